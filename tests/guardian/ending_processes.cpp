// The processes that end sessions.
#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include "ending_order.hpp"
#include "ending_process.hpp"
#include "guardian/guarding.hpp"

namespace guardian::test {

// Sessions of the dead, with servers of the test in place of the ensemble.

using asio::ip::tcp;

/// A server that says the same to everybody who connects, and nothing more.
class fixed_server {
 public:
  static constexpr std::size_t most_sockets = 100;  // older ones have served, where there are more

  explicit fixed_server(asio::io_context& io, std::string words = {})
      : acceptor_(io, tcp::endpoint(asio::ip::address_v4::loopback(), 0)), words_(std::move(words)) {
    accept();
  }
  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::size_t connections() const noexcept { return connections_; }

 private:
  void accept() {
    acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket with) {
      if (error) return;
      ++connections_;
      sockets_.push_back(std::move(with));
      if (sockets_.size() > most_sockets) sockets_.pop_front();
      boost::system::error_code ignored;
      asio::write(sockets_.back(), asio::buffer(words_), ignored);
      accept();
    });
  }

  tcp::acceptor acceptor_;
  std::string words_;
  std::deque<tcp::socket> sockets_;
  std::size_t connections_ = 0;
};

inline std::vector<pid_t> our_children() {
  std::ifstream list("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  std::vector<pid_t> all;
  for (pid_t each = 0; list >> each;) all.push_back(each);
  return all;
}

struct ending_case : guarding {
  session_of_the_dead session_at(const fixed_server& server, std::int64_t id, uid_t user = 0) const {
    auto session = session_of(id);
    session.servers = {{"127.0.0.1", server.port()}};
    return {std::move(session), {term_of(id, "/election")}, user};
  }
  void end(const session_ender& by, session_of_the_dead what, std::chrono::milliseconds within) {
    by(std::move(what), zkrecipes::lease_clock::now() + within,
       [this](const ending& each) { results.push_back(each); });
  }
  void run_until_results(std::size_t count) {
    run_until([&] { return results.size() == count; }, std::to_string(count) + " results");
  }
  void run_until_nobody_is_left() {
    run_until([] { return our_children().empty(); }, "the ends of the ending processes");
  }

  /// A guardian with ending processes, and a process of which it is ending the session.
  void begin_to_end_session_at(const fixed_server& server, std::chrono::milliseconds timeout) {
    guard.emplace(io, options, make_process_ender(io.get_executor(), GUARDIAN_PROGRAM),
                  [this](std::string_view line) { log.emplace_back(line); });
    guard->listen();
    leave_dead_process_with(server, timeout);
    run_until([&] { return server.connections() > 0; }, "the order");
  }
  /// A process has told its session, and is killed.
  void leave_dead_process_with(const fixed_server& server, std::chrono::milliseconds timeout) {
    child one([&, port = server.port()](const child::orders& orders) {
      talker to(options.socket.path);
      to.greet();
      auto session = session_of(1);
      session.key.timeout = timeout;
      session.servers = {{"127.0.0.1", port}};
      to.tell(session);
      to.complete();
      orders.report('r');
      orders.wait();
    });
    run_until_reported(one, 'r');
    one.signal(SIGKILL);
  }

  std::vector<ending> results;
};

}  // namespace guardian::test

using namespace guardian;
using namespace guardian::test;

BOOST_FIXTURE_TEST_SUITE(ending_processes, ending_case)

BOOST_AUTO_TEST_CASE(an_order_is_read_as_it_was_written) {
  ending_order order{7, {session_of(5), {term_of(5, "/a"), term_of(5, "/b")}}, 1'500ms};
  const auto lines = to_lines(order).value();
  ending_order_reader reader;
  std::optional<ending_order> read;
  for (std::size_t begin = 0; begin < lines.size();) {
    const auto end = lines.find('\n', begin);
    BOOST_TEST_REQUIRE(!read);
    read = reader.hear(std::string_view(lines).substr(begin, end - begin));
    begin = end + 1;
  }
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST(read->number == 7);
  BOOST_TEST((read->within == 1'500ms));
  BOOST_TEST((read->what.session == order.what.session));
  BOOST_TEST((read->what.terms == order.what.terms));
  BOOST_CHECK_THROW(reader.hear("{}"), std::runtime_error);
  BOOST_CHECK_THROW(reader.hear("no JSON"), std::runtime_error);
}

BOOST_AUTO_TEST_CASE(an_answer_is_read_as_it_was_written) {
  auto line = to_line(ending_answer{3, {"busy", 4, 5, true}});
  line.pop_back();
  const auto read = parse_ending_answer(line);
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST((read->number == 3 && read->result.problem == "busy" && read->result.died == 4u));
  BOOST_TEST((read->result.passed_over == 5u && read->result.is_closed));
  for (const auto* each : {"", "{}", "[]", R"({"order":1,"problem":"","died":-1,"passed_over":0,"closed":true})"}) {
    BOOST_TEST(!parse_ending_answer(each), each);
  }
}

BOOST_AUTO_TEST_CASE(the_deadline_ends_what_a_silent_server_holds_up) {
  fixed_server silent(io);
  const auto ender = make_process_ender(io.get_executor(), GUARDIAN_PROGRAM);
  end(ender, session_at(silent, 1), 300ms);
  run_until_results(1);
  BOOST_TEST(!results.front().problem.empty());
  BOOST_TEST(!results.front().is_closed);
  BOOST_TEST(silent.connections() > 0u);
  run_until_nobody_is_left();
}

BOOST_AUTO_TEST_CASE(one_that_dies_hurts_the_sessions_of_its_user_only) {
  fixed_server silent(io);
  const auto ender = make_process_ender(io.get_executor(), GUARDIAN_PROGRAM);
  end(ender, session_at(silent, 1, 1'001), 60s);
  end(ender, session_at(silent, 2, 1'001), 60s);
  run_until([] { return !our_children().empty(); }, "the start");
  const auto first = our_children();
  BOOST_TEST_REQUIRE(first.size() == 1u, "one process for the two");
  end(ender, session_at(silent, 3, 1'002), 2s);
  run_until([&] { return silent.connections() >= 3; }, "the connections");
  BOOST_TEST_REQUIRE(::kill(first.front(), SIGABRT) == 0);
  run_until_results(2);
  for (const auto& each : results) BOOST_TEST(each.problem == "the ending process has ended");
  run_until_results(3);
  BOOST_TEST(results.back().problem != "the ending process has ended");
  end(ender, session_at(silent, 4, 1'001), 300ms);
  run_until_results(4);
  BOOST_TEST(results.back().problem != "the ending process has ended", "the user has a new one");
  run_until_nobody_is_left();
}

BOOST_AUTO_TEST_CASE(one_that_is_stuck_is_killed_when_the_deadline_is_well_over) {
  fixed_server silent(io);
  const auto ender = make_process_ender(io.get_executor(), GUARDIAN_PROGRAM);
  end(ender, session_at(silent, 1), 200ms);
  run_until([] { return !our_children().empty(); }, "the start");
  const auto stuck = our_children();
  BOOST_TEST_REQUIRE(stuck.size() == 1u);
  BOOST_TEST_REQUIRE(::kill(stuck.front(), SIGSTOP) == 0);
  run_until_results(1);
  BOOST_TEST(results.front().problem == "the ending process has not answered in time");
  run_until_nobody_is_left();
}

BOOST_AUTO_TEST_CASE(servers_that_break_the_protocol_hurt_nobody_else) {
  using namespace std::string_literals;
  const std::vector<std::string> words{std::string(1 << 20, '\xff'), std::string(1 << 20, '\0'),
                                       "\0\0\0\x29"s + std::string(41, '\x7f'),
                                       "\0\0\0\x24"s + std::string(36, '\0') + std::string(100, '\x01'),
                                       // A good answer to the connection, and then nonsense.
                                       "\0\0\0\x25\0\0\0\0\0\0\x13\x88\0\0\0\0\0\0\0\x01\0\0\0\x10"s +
                                           std::string(16, 'p') + '\0' + std::string(1 << 16, '\x80')};
  const auto ender = make_process_ender(io.get_executor(), GUARDIAN_PROGRAM);
  fixed_server silent(io);
  std::optional<ending> other;
  ender(session_at(silent, 2, 1'002), zkrecipes::lease_clock::now() + 2s, [&](const ending& each) { other = each; });
  for (const auto& each : words) {  // what they say can also be taken for the end of the session: that is theirs to say
    fixed_server hostile(io, each);
    const auto count = results.size();
    end(ender, session_at(hostile, 1, 1'001), 300ms);
    run_until_results(count + 1);
    BOOST_TEST(results.back().died == 0u);
  }
  run_until([&] { return other.has_value(); }, "the result of the other user");
  BOOST_TEST(other->problem == make_error_code(zkrecipes::errc::timed_out).message());
  run_until_nobody_is_left();
}

BOOST_AUTO_TEST_CASE(a_program_that_can_not_be_started_is_told) {
  fixed_server silent(io);
  const auto ender = make_process_ender(io.get_executor(), "/nowhere/zkrecipes-guardian");
  end(ender, session_at(silent, 1), 300ms);  // so long it is tried again
  BOOST_TEST(results.empty(), "later");
  run_until_results(1);
  BOOST_TEST(results.front().problem.find("can not be started") != std::string::npos, results.front().problem);
}

/// Servers without brackets are written again with them.
BOOST_AUTO_TEST_CASE(a_session_that_makes_a_longer_line_than_it_came_in_hurts_nobody) {
  std::string line = R"({"type":"session","id":"7","password":"ab","timeout_ms":60000,"servers":[)";
  for (int i = 0; i < 64; ++i) line += std::string(i ? "," : "") + "\"::1:2181\"";
  line += R"(],"digest":[)";
  for (int i = 0; i < 31; ++i) line += std::string(i ? "," : "") + "\"u:" + std::string(2'048, 'a') + '"';
  line += R"(,"u:)" + std::string((backend::longest_line - line.size() - 10) / 2 * 2, 'a') + R"("]})";
  auto read = backend::parse_guardian_message(line);
  BOOST_TEST_REQUIRE(read.message.has_value(), read.problem);
  fixed_server silent(io);
  const auto ender = make_process_ender(io.get_executor(), GUARDIAN_PROGRAM);
  end(ender, {std::get<backend::guarded_session>(*read.message), {}, 1'001}, 60s);
  end(ender, session_at(silent, 2, 1'001), 300ms);
  run_until_results(2);
  BOOST_TEST(results.front().problem == "the session or one of its terms is too large");
  BOOST_TEST(results.back().problem == make_error_code(zkrecipes::errc::timed_out).message());
  run_until_nobody_is_left();
}

BOOST_AUTO_TEST_CASE(an_order_whose_time_is_over_hurts_no_other_one) {
  fixed_server silent(io);
  const auto ender = make_process_ender(io.get_executor(), GUARDIAN_PROGRAM);
  end(ender, session_at(silent, 1), 500ms);
  end(ender, session_at(silent, 2), -60s);
  run_until_results(2);
  BOOST_TEST(results.front().problem == "the session has timed out");
  BOOST_TEST(results.back().problem == make_error_code(zkrecipes::errc::timed_out).message());
  run_until_nobody_is_left();
}

BOOST_AUTO_TEST_CASE(a_process_whose_last_orders_came_too_late_is_not_kept) {
  fixed_server silent(io);
  const auto ender = make_process_ender(io.get_executor(), GUARDIAN_PROGRAM);
  const auto late = session_at(silent, 2);
  ender(session_at(silent, 1), zkrecipes::lease_clock::now() + 300ms, [&](const ending& each) {
    results.push_back(each);
    end(ender, late, -1ms);  // as by a user with more sessions than are ended at a time
  });
  run_until_results(2);
  run_until_nobody_is_left();
}

BOOST_AUTO_TEST_CASE(a_program_that_can_be_started_again_gets_the_orders_that_wait) {
  fixed_server silent(io);
  const auto program = folder.path + "/program";
  const auto ender = make_process_ender(io.get_executor(), program);
  end(ender, session_at(silent, 1), 20s);
  run_for(250ms);
  BOOST_TEST(results.empty());
  std::filesystem::create_symlink(GUARDIAN_PROGRAM, program);
  run_until([&] { return silent.connections() > 0; }, "the order");
  std::filesystem::remove(program);
  for (const auto each : our_children()) ::kill(each, SIGKILL);
  run_until_results(1);
  run_until_nobody_is_left();
}

BOOST_AUTO_TEST_CASE(what_is_being_ended_is_still_charged_to_its_user) {
  std::function<void(const ending&)> hold;
  options.most.sessions = 1;
  guard.emplace(
      io, options,
      [&](session_of_the_dead, zkrecipes::lease_clock::time_point, std::function<void(const ending&)> done) {
        hold = std::move(done);
      },
      [this](std::string_view line) { log.emplace_back(line); });
  guard->listen();
  auto leader = make_leader(*this, 1, [](const child::orders&, talker&) {});
  leader->signal(SIGKILL);
  run_until([&] { return bool(hold); }, "the order");
  const auto next = make_leader(*this, 2, [](const child::orders&, talker&) {});
  BOOST_TEST(has_logged("the user has too many sessions"));
  hold({{}, 1, 0, true});
  const auto last = make_leader(*this, 3, [](const child::orders&, talker&) {});
  BOOST_TEST(guard->held().session_count() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

// Many users, many sessions, and the end of the guardian meanwhile.
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

// A guardian that lacks something.
BOOST_FIXTURE_TEST_SUITE(shortages, guarding)

BOOST_AUTO_TEST_CASE(a_process_is_refused_for_want_of_descriptors) {
  start();
  child poor([&](const child::orders& orders) {
    talker to(options.socket.path);
    orders.report('c');
    orders.wait();
    to.greet();
    const auto answer = backend::parse_guardian_answer(to.hear());
    orders.report(answer && answer->reason.find("can not be watched") != std::string::npos ? 'r' : 'n');
    orders.wait();
  });
  run_until_reported(poor, 'c');
  run_until([&] { return guard->connection_count() == 1u; }, "the connection");
  asio::posix::stream_descriptor reports(io, ::dup(poor.reports()));
  auto none_but_the_pidfd_that_comes = std::make_optional<shortage_of_descriptors>(1);
  poor.order('g');
  char heard = 0;
  bool is_there = false;
  asio::async_read(reports, asio::buffer(&heard, 1),
                   [&](const boost::system::error_code&, std::size_t) { is_there = true; });
  run_until([&] { return is_there; }, "the answer");
  none_but_the_pidfd_that_comes.reset();
  BOOST_TEST(heard == 'r');
  BOOST_TEST(guard->held().process_count() == 0u);
  see_another_death();
}

BOOST_AUTO_TEST_SUITE_END()
