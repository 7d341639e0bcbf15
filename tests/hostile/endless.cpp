// Servers that send byte by byte, or much, and never what a request waits for. What ends such a connection, and when.
#include <fstream>

#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <testcluster/op_code.hpp>

#include "hostile/lying_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace zkrecipes::test::frame;
namespace op = testcluster::op;

namespace {

using clock_type = std::chrono::steady_clock;

constexpr std::int32_t short_timeout = 900;
constexpr auto long_enough = 10s;  // far more than any bound here, for a loaded machine

asio::awaitable<void> pause(std::chrono::milliseconds time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable);
}

/// Sends the bytes one by one, and then zeros, without an end.
asio::awaitable<void> drip(scripted_connection& client, std::string bytes) {
  for (std::size_t i = 0;; ++i) {
    co_await client.write(std::string(1, i < bytes.size() ? bytes[i] : '\0'));
    co_await pause(5ms);
  }
}

struct endless_case : lying_case {
  clock_type::time_point begin = clock_type::now();

  /// Runs a read at a server whose first connection follows the script, and whose second is good. The session, which
  /// asks for the short timeout, has to go on there, and to tell why it has left the first.
  void check(script first, const error_code& why, std::chrono::milliseconds connect_timeout = 30s) {
    read_behind(first, [connect_timeout](session_options& options) {
      options.timeout = std::chrono::milliseconds(short_timeout);
      options.connect_timeout = connect_timeout;
    });
    BOOST_TEST((clock_type::now() - begin < long_enough));
    BOOST_TEST(connections == 2);
    BOOST_TEST_REQUIRE(!lost->empty());
    BOOST_TEST((lost->front() == why), lost->front().message());
  }

  /// Takes the session, and answers what comes before the read.
  static asio::awaitable<request> until_read(scripted_connection& client) {
    co_await client.read_connect();
    co_await client.accept(0x55, short_timeout);
    for (;;) {
      auto asked = co_await client.read_request();
      if (asked.op == op::get_data) co_return asked;
      co_await client.answer(asked.xid);
    }
  }
};

std::size_t kib_of(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::size_t value = 0;
    if (word == field + ':' && status >> value) return value;
  }
  return 0;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(endless, endless_case)

BOOST_AUTO_TEST_CASE(an_acceptance_byte_by_byte_ends_with_the_connect_timeout) {
  const auto first = [](scripted_connection& client) -> asio::awaitable<void> {
    co_await client.read_connect();
    co_await client.write(granted(0x55, short_timeout).substr(0, 30));
    for (;;) co_await pause(1h);
  };
  check(first, errc::timed_out, 200ms);
}

// Credentials are sent as soon as the session is granted, and reach the server, too.
BOOST_AUTO_TEST_CASE(an_acceptance_that_drips_is_taken_when_it_is_whole) {
  std::vector<std::int32_t> asked_for;
  scripted_server server(io, [&](scripted_connection client) -> asio::awaitable<void> {
    co_await client.read_connect();
    const auto bytes = granted(0x55, 5000);
    for (const char each : bytes) {
      co_await client.write(std::string(1, each));
      co_await pause(1ms);
    }
    for (;;) {
      const auto asked = co_await client.read_request();
      asked_for.push_back(asked.op);
      co_await client.answer(asked.xid);
      if (asked.op == op::close_session) co_return;
    }
  });
  auto options = options_for(server_address(server));
  options.digest = {{"one", "secret"}, {"two", "secret"}};
  session zk(io.get_executor(), options);
  const auto got = run_coroutine(io, zk.async_get("/a", tuple));
  BOOST_TEST(!std::get<0>(got), std::get<0>(got).message());
  BOOST_TEST(zk.counters().connects == 1u);
  BOOST_TEST_REQUIRE(asked_for.size() >= 3u);
  BOOST_TEST(asked_for[0] == op::auth);
  BOOST_TEST(asked_for[1] == op::auth);
  run_coroutine(io, zk.async_close(tuple));
  server.stop();
}

BOOST_AUTO_TEST_CASE(an_answer_byte_by_byte_ends_after_two_thirds_of_the_timeout) {
  const auto first = [](scripted_connection& client) -> asio::awaitable<void> {
    const auto asked = co_await until_read(client);
    const auto start = int32(1 << 20) + head(asked.xid) + int32(1 << 19);
    co_await drip(client, start);
  };
  check(first, errc::timed_out);
}

BOOST_AUTO_TEST_CASE(pings_that_nobody_asked_for_are_no_answer) {
  const auto first = [](scripted_connection& client) -> asio::awaitable<void> {
    co_await until_read(client);
    const auto ping = framed(head(-2));
    for (;;) {
      co_await client.write(ping);
      co_await pause(5ms);
    }
  };
  check(first, errc::timed_out);
}

BOOST_AUTO_TEST_CASE(events_without_a_pause_are_no_answer) {
  const auto first = [](scripted_connection& client) -> asio::awaitable<void> {
    co_await until_read(client);
    std::string many;
    for (int i = 0; i < 1000; ++i) many += event(3, 3, "/a");
    for (;;) co_await client.write(many);
  };
  check(first, errc::timed_out);
}

BOOST_AUTO_TEST_CASE(a_million_children_arrive) {
  constexpr std::int32_t count = 1'000'000;
  std::string names = int32(count);
  for (std::int32_t i = 0; i < count; ++i) names += text(std::to_string(i));
  std::size_t received = 0;
  const auto look = [&received](session& zk) -> asio::awaitable<error_code> {
    auto result = co_await zk.async_children("/a", tuple);
    received = std::get<1>(result).names.size();
    co_return std::get<0>(result);
  };
  const auto error = check_tolerated(
      op::get_children2, [&](const request& asked) { return framed(head(asked.xid) + names + stat()); }, look);
  BOOST_TEST(!error, error.message());
  BOOST_TEST(received == static_cast<std::size_t>(count));
}

// Without the check, the C client takes as much memory as the length says, while the server sends.
BOOST_AUTO_TEST_CASE(a_length_takes_no_memory) {
  const auto before = kib_of("VmSize");
  const auto look = [before](session& zk) -> asio::awaitable<error_code> {
    auto result = co_await zk.async_get("/a", tuple);
    BOOST_TEST(kib_of("VmSize") < before + (256u << 10));
    co_return std::get<0>(result);
  };
  const auto error = check_lie(
      op::get_data, [](const request&) { return int32(2'000'000'000) + std::string(1 << 20, 'x'); }, look);
  BOOST_TEST(!error, error.message());
}

BOOST_AUTO_TEST_SUITE_END()
