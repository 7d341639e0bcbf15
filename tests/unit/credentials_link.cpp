// Credentials that are added to a living session, with the real C client on scripted servers.
#include <deque>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/session.hpp>

#include "support/coroutine.hpp"
#include "support/scripted_server.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
  BOOST_TEST_REQUIRE(adding.done());
  BOOST_TEST(!adding.error(), adding.error().message());
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
