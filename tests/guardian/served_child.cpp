// A guardian that serves one process over a pair of sockets, as `--child` does: when it is over.
#include <sys/socket.h>

#include "guardian/guarding.hpp"

using namespace guardian;
using namespace guardian::test;

namespace {

/// The sessions of the dead are ended when the test says so.
struct served_case : guarding {
  served_case() {
    guard.emplace(
        io, options,
        [this](session_of_the_dead what, zkrecipes::lease_clock::time_point, std::function<void(const ending&)> done) {
          ended.push_back(std::move(what));
          hold = std::move(done);
        },
        [this](std::string_view line) { log.emplace_back(line); });
    std::array<int, 2> ends{};
    BOOST_TEST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    to.emplace(descriptor(ends[1]));
    guard->serve(ends[0], [this] { is_over = true; });
  }
  void tell(std::chrono::milliseconds timeout = 10s) {
    auto session = session_of(1);
    session.key.timeout = timeout;
    const auto pidfd = open_pidfd(leader.pid());
    to->send(*backend::to_line(backend::guardian_hello{std::string(32, 'c'), 0ms}), {pidfd.get()});
    to->tell(session);
    to->tell(term_of(1, "/election"));
  }
  void run_until_held() {
    run_until([&] { return guard->held().term_count() == 1u; }, "that it is held");
  }
  void run_until_over() {
    run_until([&] { return is_over; }, "the end of the service");
  }
  void check_it_ends_the_session_and_then_itself() {
    run_until([&] { return bool(hold); }, "the end of the session");
    run_for(50ms);
    BOOST_TEST(!is_over, "the session is being ended");
    hold({{}, 1, 0, true});
    run_until_over();
    BOOST_TEST(endings_of(1) == 1u);
  }

  child leader{[](const child::orders& orders) { orders.wait(); }};
  std::optional<talker> to;
  std::function<void(const ending&)> hold;
  bool is_over = false;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(served_children, served_case)

BOOST_AUTO_TEST_CASE(one_that_dies_and_hangs_up) {
  tell();
  run_until_held();
  to.reset();
  run_until([&] { return guard->connection_count() == 0u; }, "the end of the line");
  BOOST_TEST(!is_over);
  leader.signal(SIGKILL);
  check_it_ends_the_session_and_then_itself();
}

BOOST_AUTO_TEST_CASE(one_whose_socket_somebody_else_has) {
  tell();
  run_until_held();
  leader.signal(SIGKILL);  // the test keeps the other end, as a process does that was forked by the dead one
  check_it_ends_the_session_and_then_itself();
}

BOOST_AUTO_TEST_CASE(one_that_is_dead_before_it_is_heard) {
  tell();
  leader.signal(SIGKILL);
  leader.wait_for_end();
  check_it_ends_the_session_and_then_itself();
}

BOOST_AUTO_TEST_CASE(one_that_takes_everything_back) {
  tell();
  to->tell(backend::guarded_session_end{1});
  to.reset();
  run_until_over();
  BOOST_TEST(ended.empty());
}

BOOST_AUTO_TEST_CASE(one_that_tells_nothing) {
  to.reset();
  run_until_over();
}

BOOST_AUTO_TEST_CASE(one_that_hangs_up_and_lives_can_not_come_back_so_it_is_left_when_its_sessions_have_timed_out) {
  tell(200ms);
  run_until_held();
  to.reset();
  run_until_over();
  BOOST_TEST(ended.empty());
  BOOST_TEST(has_logged("left reason="));
}

BOOST_AUTO_TEST_CASE(one_that_dies_in_that_time_is_not_left) {
  tell(2s);
  run_until_held();
  to.reset();
  run_until([&] { return guard->connection_count() == 0u; }, "the end of the line");
  leader.signal(SIGKILL);
  run_until([&] { return bool(hold); }, "the end of the session");
  run_for(2'100ms);
  BOOST_TEST(!is_over, "the session is being ended");
  hold({{}, 1, 0, true});
  run_until_over();
}

BOOST_AUTO_TEST_SUITE_END()
