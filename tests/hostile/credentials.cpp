// Answers to credentials that were never shown, or are answered already.
#include <boost/test/unit_test.hpp>

#include <testcluster/op_code.hpp>

#include "hostile/frame.hpp"
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
