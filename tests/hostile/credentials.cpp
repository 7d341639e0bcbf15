// Answers to credentials that were never shown, or are answered already.
#include <algorithm>
#include <deque>

#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <testcluster/op_code.hpp>

#include "hostile/lying_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace zkrecipes::test::frame;
namespace op = testcluster::op;

namespace {

using request = lying_case::request;

const std::string accepted = framed(head(-4));
const std::string refused = framed(head(-4, -115));

std::string good_data(const request& asked) { return framed(head(asked.xid) + text("data") + stat()); }

asio::awaitable<error_code> look(session& zk) {
  auto result = co_await zk.async_get("/a", tuple);
  co_return std::get<0>(result);
}

struct credentials_case {
  std::vector<credentials> digest;

  void check_lie(const char* name, std::int32_t op, const lying_case::lie& told) {
    BOOST_TEST_CONTEXT(name) {
      lying_case server;
      server.digest = digest;
      const auto error = server.check_lie(op, told, look);
      BOOST_TEST(!error, error.message());
    }
  }
  void check_tolerated(const char* name, std::int32_t op, const lying_case::lie& told) {
    BOOST_TEST_CONTEXT(name) {
      lying_case server;
      server.digest = digest;
      const auto error = server.check_tolerated(op, told, look);
      BOOST_TEST(!error, error.message());
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(credentials_answers, credentials_case)

BOOST_AUTO_TEST_CASE(without_any_shown) {
  check_lie("before an answer", op::get_data, [](const request& asked) { return accepted + good_data(asked); });
  check_lie("behind an answer", op::get_data, [](const request& asked) { return good_data(asked) + accepted; });
  check_lie("refused, before an answer", op::get_data, [](const request& asked) { return refused + good_data(asked); });
  check_lie("in place of an answer to a ping", op::sync, [](const request&) { return accepted; });
  check_lie("with a body", op::get_data, [](const request&) { return framed(head(-4) + text("data") + stat()); });
}

// A refusal that is believed ends the session, not the connection.
BOOST_AUTO_TEST_CASE(answered_once_more) {
  digest = {{"user", "hush"}};
  check_lie("at once", op::auth, [](const request&) { return accepted + accepted; });
  check_lie("accepted, and then refused", op::auth, [](const request&) { return accepted + refused; });
  check_lie("later", op::get_data, [](const request& asked) { return accepted + good_data(asked); });
  check_lie("later, refused behind an answer", op::get_data,
            [](const request& asked) { return good_data(asked) + refused; });
  digest.push_back({"other", "hush"});
  check_lie("three for two", op::get_data, [](const request& asked) { return accepted + good_data(asked); });
}

BOOST_AUTO_TEST_CASE(answered_in_pieces) {
  digest = {{"user", "hush"}};
  const auto drip = [](std::string bytes) {
    return [bytes](scripted_connection& client) -> asio::awaitable<void> {
      co_await client.read_connect();
      const auto begin = granted(0x55, 5000);
      co_await client.write(begin);
      co_await client.read_request();  // the credentials
      for (const char each : bytes) {
        co_await client.write(std::string(1, each));
        asio::steady_timer nap(co_await asio::this_coro::executor, 1ms);
        co_await nap.async_wait(asio::use_awaitable);
      }
      co_await lying_case::answer_all(client);
    };
  };
  lying_case once, twice;
  once.digest = twice.digest = digest;
  once.read_behind(drip(accepted));
  BOOST_TEST(once.connections == 1);
  twice.check_breach(drip(accepted + refused));
}

// Servers answer credentials at once, ahead of what was asked before them. None has to.
BOOST_AUTO_TEST_CASE(answered_late) {
  digest = {{"user", "hush"}};
  lying_case server;
  server.digest = digest;
  server.read_behind([](scripted_connection& client) -> asio::awaitable<void> {
    co_await client.read_connect();
    const auto begin = granted(0x55, 5000);
    co_await client.write(begin);
    co_await client.read_request();  // the credentials
    const auto behind = [](const request& asked) { return good_data(asked) + accepted; };
    co_await lying_case::answer_all(client, op::get_data, behind);
  });
  BOOST_TEST(server.connections == 1);
}

BOOST_AUTO_TEST_SUITE_END()

// Many credentials at once, for a server that ends connections, and for one that does not read.
namespace {

struct giving_many : lying_case {
  static constexpr std::size_t given = 50, kept = 32;
  static constexpr int unlimited = -1;
  static constexpr std::int32_t err_no_node = -101;

  std::deque<recorder<>> adding;
  bool is_reading = true;

  /// Answers so many requests, and ends the connection then.
  asio::awaitable<void> answer(scripted_connection& client, int requests) {
    const auto asked_id = co_await client.read_connect();
    const auto accepted = granted(asked_id ? asked_id : 0x55, 30'000);
    co_await client.write(accepted);
    asio::steady_timer nap(io);
    for (; requests != 0; --requests) {
      while (!is_reading) {
        nap.expires_after(1ms);
        co_await nap.async_wait(asio::use_awaitable);
      }
      const auto asked = co_await client.read_request();
      const bool is_catch_up = asked.op == op::multi;
      co_await client.answer(asked.xid, is_catch_up ? err_no_node : 0);
      if (asked.op == op::close_session) co_return;
    }
  }

  void give_all(session& zk) {
    for (std::size_t i = 0; i < given; ++i)
      zk.async_add_credentials({"user" + std::to_string(i), "hush"}, adding.emplace_back(io.get_executor()).token());
  }

  /// Each call ends once: 32 are kept, and the others have no room. The session goes on.
  void check_all(session& zk) {
    BOOST_TEST_REQUIRE(
        run_until(io, [&] { return std::ranges::all_of(adding, [](const auto& each) { return each.done(); }); }));
    std::size_t good = 0, refused = 0;
    for (const auto& each : adding) {
      BOOST_TEST(each.calls() == 1);
      good += !each.error();
      refused += each.error() == errc::full;
    }
    BOOST_TEST(good == kept);
    BOOST_TEST(refused == given - kept);
    const auto got = run_coroutine(io, zk.async_get("/a", tuple));
    BOOST_TEST(!std::get<0>(got), std::get<0>(got).message());
    BOOST_TEST(zk.counters().incarnations == 1u);
    run_coroutine(io, zk.async_close(tuple));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(giving, giving_many)

BOOST_AUTO_TEST_CASE(connections_that_end_again_and_again) {
  constexpr int cut = 20;
  scripted_server server(io, [this](scripted_connection client) -> asio::awaitable<void> {
    const int number = connections++;
    co_await answer(client, number < cut ? number * 5 % 37 : unlimited);  // among the credentials, and behind them
  });
  session zk(io.get_executor(), options_for(server_address(server)));
  give_all(zk);
  check_all(zk);
  server.stop();
}

// They are sent when the socket has taken what was requested before them.
BOOST_AUTO_TEST_CASE(a_server_that_does_not_read) {
  constexpr int writes = 20;  // more than the buffers of both ends take
  scripted_server server(io, [this](scripted_connection client) -> asio::awaitable<void> {
    ++connections;
    co_await answer(client, unlimited);
  });
  auto options = options_for(server_address(server));
  options.timeout = 30s;
  session zk(io.get_executor(), options);
  BOOST_TEST_REQUIRE(run_until(io, [&] { return zk.status().state == session_state::connected; }));
  is_reading = false;
  std::deque<recorder<node_stat>> writing;
  for (int i = 0; i < writes; ++i)
    zk.async_set("/a", std::string(900'000, 'x'), any_version, writing.emplace_back(io.get_executor()).token());
  give_all(zk);
  io.restart();
  while (io.poll() > 0) {
  }
  const auto none_is_done = std::ranges::none_of(adding, [](const auto& each) { return each.done() && !each.error(); });
  BOOST_TEST(none_is_done, "the server has read none of them");
  is_reading = true;
  check_all(zk);
  for (auto& each : writing) BOOST_TEST((!each.error() || each.error() == errc::connection_loss));
  server.stop();
}

BOOST_AUTO_TEST_SUITE_END()
