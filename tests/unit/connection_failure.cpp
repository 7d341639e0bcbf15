// Why the real C client gets no connection, as the status tells it.
#include <memory>

#include <boost/asio/ip/tcp.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/session.hpp>

#include "support/coroutine.hpp"
#include "support/scripted_server.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct failing_case {
  asio::io_context io;

  /// The first failure of a session at this address.
  connection_failure failure_at(const std::string& address, std::chrono::milliseconds timeout = 10s) {
    session_options options;
    options.hosts = address;
    options.timeout = timeout;
    options.connect_timeout = 30s;
    session zk(io.get_executor(), options);
    const bool has_failed = run_until(io, [&] { return !zk.status().failures.empty(); });
    BOOST_TEST_REQUIRE(has_failed);
    return zk.status().failures.front();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(connection_failures, failing_case)

BOOST_AUTO_TEST_CASE(nothing_listens) {
  asio::ip::tcp::acceptor taken(io, {asio::ip::address_v4::loopback(), 0});
  const auto port = taken.local_endpoint().port();
  taken.close();
  const auto failure = failure_at("127.0.0.1:" + std::to_string(port));
  BOOST_TEST((failure.reason == failure_reason::refused), failure.error.message());
  BOOST_TEST((failure.error == boost::system::errc::connection_refused));
  BOOST_TEST(failure.server == "127.0.0.1:" + std::to_string(port));
}

BOOST_AUTO_TEST_CASE(no_network_leads_there) {
  const auto failure = failure_at("255.255.255.255:1");  // TCP knows no broadcast
  BOOST_TEST((failure.reason == failure_reason::unreachable), failure.error.message());
}

// Nobody was asked, so nobody has closed a connection.
BOOST_AUTO_TEST_CASE(an_address_that_the_c_client_does_not_take_is_not_resolved) {
  const auto failure = failure_at("[::1%lo]:1");
  BOOST_TEST((failure.reason == failure_reason::unresolved), to_string(failure.reason));
  BOOST_TEST((failure.error == asio::error::host_not_found), failure.error.message());
}

BOOST_AUTO_TEST_CASE(an_address_that_the_system_does_not_take_is_unreachable) {
  const auto failure = failure_at("[fe80::1]:1");  // without an interface
  BOOST_TEST((failure.reason == failure_reason::unreachable), to_string(failure.reason));
  BOOST_TEST((failure.error.category() == boost::system::system_category()), failure.error.message());
}

BOOST_AUTO_TEST_CASE(the_server_closes_at_once) {
  scripted_server server(io,
                         [](scripted_connection client) -> asio::awaitable<void> { co_await client.read_connect(); });
  const auto failure = failure_at(server.address());
  BOOST_TEST((failure.reason == failure_reason::closed), failure.error.message());
  server.stop();
}

BOOST_AUTO_TEST_CASE(the_server_serves_reads_only) {
  scripted_server server(io, [](scripted_connection client) -> asio::awaitable<void> {
    co_await client.read_connect();
    co_await client.accept(0x55, 5000, true);
    co_await client.until_end();
  });
  const auto failure = failure_at(server.address());
  BOOST_TEST((failure.reason == failure_reason::read_only), failure.error.message());
  server.stop();
}

BOOST_AUTO_TEST_CASE(the_server_accepts_and_says_nothing) {
  scripted_server server(io, [](scripted_connection client) -> asio::awaitable<void> { co_await client.until_end(); });
  const auto failure = failure_at(server.address(), 150ms);  // the C client waits for a part of the session timeout
  BOOST_TEST((failure.reason == failure_reason::silent), failure.error.message());
  server.stop();
}

BOOST_AUTO_TEST_SUITE_END()
