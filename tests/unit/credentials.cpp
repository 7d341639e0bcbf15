// Credentials that are added to a living session, in the fake world.
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/log.hpp>
#include <zkrecipes/session.hpp>

#include "support/coroutine.hpp"
#include "support/scripted_server.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

const credentials added_user{"user", "hush"};

struct credentials_case : fake_session {
  credentials_case() : fake_session(logged()) {}

  static session_options logged() {
    auto options = usual();
    options.log = [](const log_event& each) { told().push_back(to_string(each)); };
    options.trace = [](const trace_event& each) {
      told().push_back(std::string(each.operation) + ' ' + std::string(each.path));
    };
    options.jute_maxbuffer = 4096;
    told().clear();
    return options;
  }
  static strings& told() {
    static strings all;
    return all;
  }
  recorder<> add(const credentials& added) { return zk.async_add_credentials(added, begun()); }
  static error_code refused() { return boost::system::errc::make_error_code(boost::system::errc::connection_refused); }
  static bool is_cancelled(const recorder<>& which) {
    return which.done() && which.error() == asio::error::operation_aborted;
  }
  std::vector<std::string> users() {
    std::vector<std::string> all;
    for (const auto& each : last().options.digest) all.push_back(each.user + ':' + each.password);
    return all;
  }
  /// `authenticate` of these is the oldest request without an answer.
  void check_given(const std::string& secret) {
    const auto what = answer();
    BOOST_TEST((what.op == backend::opcode::authenticate));
    BOOST_TEST(what.secret->user + ':' + what.secret->password == secret);
  }
};

#define CHECK_USERS(...) BOOST_TEST(users() == (strings{__VA_ARGS__}), boost::test_tools::per_element())

}  // namespace

BOOST_FIXTURE_TEST_SUITE(added_credentials, credentials_case)

BOOST_AUTO_TEST_CASE(they_are_sent_at_once_and_every_later_connection_begins_with_them) {
  connect();
  auto adding = add(added_user);
  CHECK_PENDING("authenticate /");
  BOOST_TEST(!adding.done());
  check_given("user:hush");
  BOOST_TEST_REQUIRE(succeeded(adding));
  reconnect();
  CHECK_USERS("user:hush");
  CHECK_PENDING();
  expire();
  CHECK_USERS("user:hush");
}

BOOST_AUTO_TEST_CASE(what_is_begun_afterwards_is_sent_behind_them) {
  connect();
  auto adding = add(added_user);
  auto reading = zk.async_get("/a", begun());
  CHECK_PENDING("authenticate /", "get /a");
}

BOOST_AUTO_TEST_CASE(without_a_connection_the_next_one_brings_them) {
  connect();
  lose(refused());
  lose(refused());
  auto adding = add(added_user);
  BOOST_TEST(!adding.done());
  advance(5s);
  CHECK_USERS("user:hush");
  accept(0x77);
  CHECK_PENDING("multi /", "authenticate /");
  answer();
  check_given("user:hush");
  BOOST_TEST(!adding.error());
}

BOOST_AUTO_TEST_CASE(a_connection_that_was_begun_before_gets_them_ahead_of_everything_else) {
  auto reading = zk.async_get("/a", recorded());
  auto adding = add(added_user);
  adding.cancel();
  settle();
  BOOST_TEST(is_cancelled(adding));
  CHECK_USERS();
  accept(0x77);
  CHECK_PENDING("authenticate /", "sync /", "get /a");
  check_given("user:hush");
}

BOOST_AUTO_TEST_CASE(a_lost_reply_is_waited_for_on_the_next_connection) {
  connect();
  auto adding = add(added_user);
  lose();
  BOOST_TEST(!adding.done());
  CHECK_USERS("user:hush");
  accept(0x77);
  answer();
  check_given("user:hush");
  BOOST_TEST(adding.calls() == 1);
  BOOST_TEST(!adding.error());
}

BOOST_AUTO_TEST_CASE(a_cancelled_wait_leaves_them_with_the_session) {
  connect();
  auto adding = add(added_user);
  adding.cancel();
  settle();
  BOOST_TEST(is_cancelled(adding));
  check_given("user:hush");
  reconnect();
  CHECK_USERS("user:hush");
}

BOOST_AUTO_TEST_CASE(no_connection_in_time_leaves_them_with_the_session) {
  auto adding = add(added_user);
  for (int i = 0; i < 60 && !adding.done(); ++i) advance(1s);
  BOOST_TEST((adding.error() == errc::connection_loss), adding.error().message());
  CHECK_USERS("user:hush");
}

BOOST_AUTO_TEST_CASE(the_same_ones_again_are_answered_and_not_kept_twice) {
  connect();
  for (int i = 0; i < 3; ++i) {
    auto adding = add(added_user);
    check_given("user:hush");
    BOOST_TEST(!adding.error());
  }
  auto other = add({"user", "another"});
  check_given("user:another");
  reconnect();
  CHECK_USERS("user:hush", "user:another");
}

BOOST_AUTO_TEST_CASE(those_that_no_server_could_read_are_refused_and_not_kept) {
  connect();
  const std::string cut("a\0b", 3);
  for (const auto& bad : {credentials{"", "hush"}, {"a:b", "hush"}, {cut, "hush"}, {"u", cut}}) {
    auto adding = add(bad);
    BOOST_TEST_REQUIRE(ended_with(adding, errc::bad_arguments));
  }
  auto large = add({"u", std::string(4096, 'x')});
  BOOST_TEST((large.error() == errc::too_large));
  CHECK_PENDING();
  reconnect();
  CHECK_USERS();
}

BOOST_AUTO_TEST_CASE(there_is_room_for_32) {
  connect();
  for (int i = 0; i < 32; ++i) {
    auto adding = add({"user" + std::to_string(i), "hush"});
    answer();
    BOOST_TEST(!adding.error());
  }
  auto adding = add(added_user);
  BOOST_TEST((adding.error() == errc::full), adding.error().message());
  auto known = add({"user7", "hush"});
  check_given("user7:hush");
  BOOST_TEST(!known.error());
  reconnect();
  BOOST_TEST(users().size() == 32u);
}

BOOST_AUTO_TEST_CASE(there_is_room_for_64_KiB) {
  connect();
  for (int i = 10; i < 26; ++i) {
    auto adding = add({std::to_string(i), std::string(4'000, 'x')});
    answer();
    BOOST_TEST(!adding.error());
  }
  const std::string rest((64 << 10) - 16 * 4'002 - 1, 'x');
  auto too_long = add({"u", rest + 'x'});
  BOOST_TEST((too_long.error() == errc::full), too_long.error().message());
  CHECK_PENDING();
  auto fitting = add({"u", rest});
  check_given("u:" + rest);
  BOOST_TEST(!fitting.error());
  auto one_more = add({"v", ""});
  BOOST_TEST((one_more.error() == errc::full), one_more.error().message());
  reconnect();
  BOOST_TEST(users().size() == 17u);
}

BOOST_AUTO_TEST_CASE(refused_ones_end_the_session_object) {
  connect();
  auto adding = add(added_user);
  lose(errc::auth_failed);
  BOOST_TEST((adding.error() == errc::auth_failed));
  BOOST_TEST((zk.status().state == session_state::closed));
  auto again = add(added_user);
  BOOST_TEST((again.error() == errc::auth_failed));
}

BOOST_AUTO_TEST_CASE(a_closed_session_takes_none) {
  connect();
  auto closing = zk.async_close(recorded());
  auto adding = add(added_user);
  BOOST_TEST((adding.error() == errc::closed));
  lose(errc::closed);
  auto late = add(added_user);
  BOOST_TEST((late.error() == errc::closed));
  session none;
  auto nowhere = none.async_add_credentials(added_user, begun());
  BOOST_TEST((nowhere.error() == errc::closed));
}

BOOST_AUTO_TEST_CASE(a_close_ends_the_wait) {
  connect();
  auto adding = add(added_user);
  auto closing = zk.async_close(begun());
  lose(errc::closed);
  BOOST_TEST((adding.error() == errc::closed), adding.error().message());
}

BOOST_AUTO_TEST_CASE(a_throttled_server_is_asked_again) {
  connect();
  auto adding = add(added_user);
  throttle();
  BOOST_TEST(!adding.done());
  advance(5s);
  check_given("user:hush");
  BOOST_TEST(!adding.error());
}

BOOST_AUTO_TEST_CASE(nothing_that_is_told_holds_the_secret) {
  connect();
  auto adding = add(added_user);
  fail(errc::server_error);
  BOOST_TEST((adding.error() == errc::server_error));
  auto too_large = add({"u", std::string(4096, 'x') + "hush"});
  auto reading = zk.async_get("/a", begun());
  fail(errc::no_auth);
  auto lost = add({"other", "hush"});
  lose(errc::auth_failed);
  BOOST_TEST(told().size() >= 5u);
  bool has_advice = false;
  for (const auto& each : told()) {
    BOOST_TEST(each.find("hush") == std::string::npos, each);
    has_advice = has_advice || each.find("compare it with session_options::digest") != std::string::npos;
  }
  BOOST_TEST(has_advice, "the session has credentials now");
}

BOOST_AUTO_TEST_SUITE_END()

// Credentials that are added to a living session, with the real C client on scripted servers.
namespace {

/// The port at this end of a socket, or at the other one; 0: the descriptor is no such socket.
int port_at(int descriptor, decltype(&::getsockname) which) {
  sockaddr_in name{};
  socklen_t size = sizeof name;
  if (which(descriptor, reinterpret_cast<sockaddr*>(&name), &size) != 0 || name.sin_family != AF_INET) return 0;
  return ntohs(name.sin_port);
}

/// From now on neither end of the connections to this server takes more than a few KiB that the other end has not read.
void narrow(const scripted_server& server) {
  const int port = std::stoi(server.address().substr(server.address().rfind(':') + 1));
  const int least = 1;
  int narrowed = 0;
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    if (port_at(descriptor, &::getpeername) == port) {
      narrowed += ::setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &least, sizeof least) == 0;
    } else if (port_at(descriptor, &::getsockname) == port && port_at(descriptor, &::getpeername) != 0) {
      narrowed += ::setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &least, sizeof least) == 0;
    }
  }
  BOOST_TEST_REQUIRE(narrowed >= 2);
}

struct giving_case {
  static constexpr std::int32_t op_exists = 3, op_get = 4, op_set = 5, op_sync = 9, op_close = -11, op_auth = 100;
  static constexpr std::int32_t err_no_node = -101, err_needs_credentials = -124;

  asio::io_context io;
  std::vector<std::int32_t> ops;  // of the requests that the server has read, on all connections
  std::size_t connections = 0;
  bool is_reading = true;

  session_options options_for(const scripted_server& server) {
    session_options options;
    options.hosts = server.address();
    options.timeout = 30s;
    return options;
  }

  /// Takes the session, and answers each request as if there were no node. With `demands`, the server serves nothing
  /// before it has read credentials: it answers as ZooKeeper does, and closes the connection.
  asio::awaitable<void> serve(scripted_connection& client, bool demands = false) {
    ++connections;
    const auto asked = co_await client.read_connect();
    co_await client.accept(asked ? asked : 0x55, 30'000);
    asio::steady_timer nap(io);
    bool has_some = false;
    for (;;) {
      while (!is_reading) {
        nap.expires_after(1ms);
        co_await nap.async_wait(asio::use_awaitable);
      }
      const auto request = co_await client.read_request();
      ops.push_back(request.op);
      has_some = has_some || request.op == op_auth;
      const bool is_served = has_some || !demands;
      const auto refusal = request.op == op_auth || request.op == op_sync ? 0 : err_no_node;
      co_await client.answer(request.xid, is_served ? refusal : err_needs_credentials);
      if (!is_served || request.op == op_close) co_return;
    }
  }

  void close(session& zk, scripted_server& server) {
    run_coroutine(io, zk.async_close(tuple));
    server.stop();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(given_credentials, giving_case)

BOOST_AUTO_TEST_CASE(each_is_followed_by_a_read_whose_answer_is_waited_for) {
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> { co_await serve(client); });
  session zk(io.get_executor(), options_for(server));
  auto connected = run_coroutine(io, zk.async_connected(tuple));
  BOOST_TEST(!std::get<0>(connected));
  recorder<> one(io.get_executor()), two(io.get_executor());
  recorder<node_data> reading(io.get_executor());
  zk.async_add_credentials({"one", "hush"}, one.token());
  zk.async_add_credentials({"two", "hush"}, two.token());
  zk.async_get("/a", reading.token());
  BOOST_TEST(run_until(io, [&] { return one.done() && two.done() && reading.done(); }));
  BOOST_TEST(!one.error());
  BOOST_TEST(!two.error());
  BOOST_TEST(ops == (std::vector<std::int32_t>{op_sync, op_auth, op_exists, op_auth, op_exists, op_get}),
             boost::test_tools::per_element());
  close(zk, server);
}

// The C client would send them in the middle of the request of which the socket has taken a part.
BOOST_AUTO_TEST_CASE(they_wait_for_what_the_socket_has_not_taken_yet) {
  constexpr std::size_t writes = 60;  // more than the buffers of both ends take
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> { co_await serve(client); });
  session zk(io.get_executor(), options_for(server));
  BOOST_TEST_REQUIRE(run_until(io, [&] { return ops.size() == 1; }));
  is_reading = false;
  std::deque<recorder<node_stat>> writing;
  for (std::size_t i = 0; i < writes; ++i) {
    zk.async_set("/a", std::string(900'000, 'x'), any_version, writing.emplace_back(io.get_executor()).token());
  }
  recorder<> adding(io.get_executor());
  recorder<node_data> reading(io.get_executor());
  zk.async_add_credentials({"user", "hush"}, adding.token());
  zk.async_get("/a", reading.token());
  io.restart();
  while (io.poll() > 0) {
  }
  is_reading = true;
  BOOST_TEST(run_until(io, [&] { return reading.done(); }));
  BOOST_TEST_REQUIRE(succeeded(adding));
  BOOST_TEST((reading.error() == errc::no_node), reading.error().message());
  for (auto& each : writing) BOOST_TEST((each.error() == errc::no_node), each.error().message());
  BOOST_TEST(connections == 1u);
  std::vector<std::int32_t> expected(writes, op_set);
  expected.insert(expected.begin(), op_sync);
  expected.insert(expected.end(), {op_auth, op_exists, op_get});
  BOOST_TEST(ops == expected, boost::test_tools::per_element());
  close(zk, server);
}

// A socket that takes only a part of them keeps the connection, and nothing gets into their middle.
BOOST_AUTO_TEST_CASE(they_wait_for_room_in_the_socket) {
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> { co_await serve(client); });
  session zk(io.get_executor(), options_for(server));
  BOOST_TEST_REQUIRE(run_until(io, [&] { return ops.size() == 1; }));
  narrow(server);
  auto used_up = run_coroutine(io, zk.async_set("/a", std::string(80'000, 'x'), any_version, tuple));
  BOOST_TEST((std::get<0>(used_up) == errc::no_node));  // so the server's end offers no more than its few KiB
  is_reading = false;
  recorder<> one(io.get_executor()), two(io.get_executor());
  recorder<node_data> reading(io.get_executor());
  zk.async_add_credentials({"one", std::string(50'000, 'x')}, one.token());
  zk.async_add_credentials({"two", "hush"}, two.token());
  zk.async_get("/a", reading.token());
  io.restart();
  while (io.poll() > 0) {
  }
  BOOST_TEST(connections == 1u);
  BOOST_TEST(!one.done());
  is_reading = true;
  BOOST_TEST(run_until(io, [&] { return reading.done(); }));
  BOOST_TEST_REQUIRE((one.done() && two.done()));
  BOOST_TEST(!one.error(), one.error().message());
  BOOST_TEST(!two.error(), two.error().message());
  BOOST_TEST((reading.error() == errc::no_node), reading.error().message());
  BOOST_TEST(connections == 1u);
  BOOST_TEST(ops == (std::vector<std::int32_t>{op_sync, op_set, op_auth, op_exists, op_auth, op_exists, op_get}),
             boost::test_tools::per_element());
  close(zk, server);
}

BOOST_AUTO_TEST_CASE(a_server_that_does_not_read_them_is_left_after_two_thirds_of_the_timeout) {
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> {
    if (connections > 0) co_return co_await serve(client);
    ++connections;
    co_await client.read_connect();
    co_await client.accept(0x55, 1'500);
    for (int i = 0; i < 2; ++i) {
      const auto request = co_await client.read_request();
      co_await client.answer(request.xid);
    }
    asio::steady_timer nap(io);
    while (connections == 1) {
      nap.expires_after(1ms);
      co_await nap.async_wait(asio::use_awaitable);
    }
  });
  session zk(io.get_executor(), options_for(server));
  auto connected = run_coroutine(io, zk.async_connected(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(connected));
  narrow(server);
  recorder<node_stat> using_up(io.get_executor());
  zk.async_set("/a", std::string(80'000, 'x'), any_version, using_up.token());
  BOOST_TEST_REQUIRE(run_until(io, [&] { return using_up.done(); }));
  const auto begin = std::chrono::steady_clock::now();
  auto added = run_coroutine(io, zk.async_add_credentials({"user", std::string(50'000, 'x')}, tuple));
  const auto taken = std::chrono::steady_clock::now() - begin;
  BOOST_TEST(!std::get<0>(added), std::get<0>(added).message());
  BOOST_TEST((taken >= 900ms));
  BOOST_TEST(connections == 2u);
  BOOST_TEST_REQUIRE(ops.size() > 1u);
  BOOST_TEST(ops.front() == op_auth);
  close(zk, server);
}

BOOST_AUTO_TEST_CASE(a_connection_that_ends_meanwhile_answers_what_waits) {
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> {
    if (connections == 0) {
      ++connections;
      co_await client.read_connect();
      co_await client.accept(0x55, 30'000);
      const auto first = co_await client.read_request();
      co_await client.answer(first.xid);
      co_await client.read_request();
      co_return;
    }
    co_await serve(client);
  });
  session zk(io.get_executor(), options_for(server));
  auto connected = run_coroutine(io, zk.async_connected(tuple));
  BOOST_TEST(!std::get<0>(connected));
  std::deque<recorder<node_stat>> writing;
  for (int i = 0; i < 60; ++i) {
    zk.async_set("/a", std::string(900'000, 'x'), any_version, writing.emplace_back(io.get_executor()).token());
  }
  recorder<> adding(io.get_executor());
  recorder<node_stat> behind(io.get_executor());
  zk.async_add_credentials({"user", "hush"}, adding.token());
  zk.async_set("/a", "", any_version, behind.token());
  BOOST_TEST(run_until(io, [&] { return adding.done() && behind.done(); }));
  BOOST_TEST(!adding.error(), "the next connection has brought them");
  BOOST_TEST((behind.error() == errc::connection_loss), behind.error().message());
  BOOST_TEST(connections == 2u);
  close(zk, server);
}

BOOST_AUTO_TEST_CASE(a_server_that_demands_some_is_told_and_asked_with_pauses_until_there_are_some) {
  scripted_server server(io,
                         [&](scripted_connection client) -> asio::awaitable<void> { co_await serve(client, true); });
  auto options = options_for(server);
  std::string told;
  options.log = [&](const log_event& each) { told += to_string(each) + '\n'; };
  session zk(io.get_executor(), options);
  BOOST_TEST_REQUIRE(run_until(io, [&] { return !zk.status().failures.empty(); }));
  const auto failure = zk.status().failures.front();
  BOOST_TEST((failure.reason == failure_reason::authentication), to_string(failure.reason));
  BOOST_TEST((failure.error == errc::auth_required), failure.error.message());
  BOOST_TEST(told.find("enforce.auth.schemes") != std::string::npos, told);
  const auto begin = std::chrono::steady_clock::now();
  BOOST_TEST(run_until(io, [&] { return connections == 5; }));
  BOOST_TEST((std::chrono::steady_clock::now() - begin > 300ms), "50, 100, 200 and 400 ms, half of each at least");
  BOOST_TEST((zk.status().failures.front().error == errc::auth_required), "not how the connection ended");
  auto added = run_coroutine(io, zk.async_add_credentials({"user", "hush"}, tuple));
  BOOST_TEST(!std::get<0>(added));
  auto read = run_coroutine(io, zk.async_get("/a", tuple));
  BOOST_TEST((std::get<0>(read) == errc::no_node));
  BOOST_TEST(zk.status().failures.empty());
  BOOST_TEST((zk.status().state == session_state::connected));
  BOOST_TEST(zk.counters().incarnations == 1u);
  close(zk, server);
}

BOOST_AUTO_TEST_CASE(a_session_without_the_credentials_that_are_demanded_can_be_closed) {
  scripted_server server(io,
                         [&](scripted_connection client) -> asio::awaitable<void> { co_await serve(client, true); });
  session zk(io.get_executor(), options_for(server));
  BOOST_TEST_REQUIRE(run_until(io, [&] { return !zk.status().failures.empty(); }));
  auto closed = run_coroutine(io, zk.async_close(tuple));
  BOOST_TEST(!std::get<0>(closed));
  server.stop();
}

BOOST_AUTO_TEST_SUITE_END()
