// Many users, many sessions, and the end of the guardian meanwhile.
#include <algorithm>
#include <string>

#include "guardian/ending_case.hpp"

using namespace guardian;
using namespace guardian::test;

namespace {

/// A server that has none of the sessions.
std::string all_expired() {
  using namespace std::string_literals;
  return "\0\0\0\x25"s + std::string(16, '\0') + "\0\0\0\x10"s + std::string(17, '\0');
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ending_crowds, ending_case)

BOOST_AUTO_TEST_CASE(beyond_sixty_four_users_one_waits_for_the_process_of_another) {
  fixed_server silent(io);
  const auto ender = make_process_ender(io.get_executor(), GUARDIAN_PROGRAM);
  constexpr uid_t users = 70;
  fixed_server others(io);
  for (uid_t user = 1; user <= 64; ++user) end(ender, session_at(silent, user, 1'000 + user), 2s);
  for (uid_t user = 65; user <= users; ++user) end(ender, session_at(others, user, 1'000 + user), 20s);
  end(ender, session_at(silent, 99, 2'000), 100ms);
  std::size_t most = 0;
  run_until([&] { return most = std::max(most, our_children().size()), results.size() == 65; }, "65 results");
  BOOST_TEST(most <= 64u);
  BOOST_TEST(results.front().problem == "there are too many ending processes", "within its time no place became free");
  run_until([&] { return others.connections() >= 6; }, "that the others have got their places");
  for (const auto each : our_children()) ::kill(each, SIGKILL);
  run_until_results(users + 1);
  run_until_nobody_is_left();
}

BOOST_AUTO_TEST_CASE(five_hundred_sessions_of_a_dead_process_are_ended_some_at_a_time) {
  fixed_server server(io, all_expired());
  constexpr std::int64_t count = 500;
  const auto port = server.port();
  options.most.sessions = count;
  const auto ender = make_process_ender(io.get_executor(), GUARDIAN_PROGRAM);
  const auto counted = [&](session_of_the_dead what, zkrecipes::lease_clock::time_point deadline,
                           std::function<void(const ending&)> done) {
    ender(std::move(what), deadline, [this, done = std::move(done)](const ending& each) {
      results.push_back(each);
      done(each);
    });
  };
  guard.emplace(io, options, counted, [this](std::string_view line) { log.emplace_back(line); });
  guard->listen();
  child many([&](const child::orders& orders) {
    talker to(options.socket.path);
    to.greet();
    for (std::int64_t i = 1; i <= count; ++i) {
      auto session = session_of(i);
      session.key.timeout = 60s;
      session.servers = {{"127.0.0.1", port}};
      to.tell(session);
    }
    to.complete();
    orders.report('r');
    orders.wait();
  });
  run_until_reported(many, 'r');
  BOOST_TEST(guard->held().session_count() == std::size_t{count});
  many.signal(SIGKILL);
  run_until_results(count);
  BOOST_TEST(std::ranges::count_if(results, &ending::is_closed) == count);
  for (const auto& each : results) BOOST_TEST_REQUIRE(each.is_closed, each.problem);
  many.reap();
  run_until_nobody_is_left();
}

BOOST_AUTO_TEST_CASE(a_guardian_that_ends_waits_for_the_orders_under_way) {
  fixed_server silent(io);
  begin_to_end_session_at(silent, 500ms);
  bool is_over = false;
  guard->finish([&] { is_over = true; });
  BOOST_TEST(!is_over);
  run_until([&] { return is_over; }, "the end of the guardian");
  BOOST_TEST(has_logged("session_ended session=0x1"));
  run_until_nobody_is_left();
}

BOOST_AUTO_TEST_CASE(what_a_guardian_has_begun_that_is_killed_goes_on) {
  fixed_server silent(io);
  begin_to_end_session_at(silent, 3s);
  guard.reset();
  const auto before = silent.connections();
  run_until([&] { return silent.connections() > before; }, "that it is tried again");
  run_until_nobody_is_left();
}

BOOST_AUTO_TEST_SUITE_END()
