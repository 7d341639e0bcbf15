// A server whose certificate or version is of no use is refused, with the reason, within two seconds.
#include <fstream>

#include <openssl/ssl.h>

#include <boost/test/unit_test.hpp>

#include "support/scripted_server.hpp"
#include "tls/tls_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(tls_reasons, tls_case)

BOOST_AUTO_TEST_CASE(the_server_is_taken) {
  tls_server server(io, server_certificate());
  session zk(io.get_executor(), options_for(server.address()));
  BOOST_TEST(run_until(io, [&] { return zk.status().state == session_state::connected; }));
  BOOST_TEST(server.connects() == 1u);
}

BOOST_AUTO_TEST_CASE(unknown_authority) {
  testcluster::authority other(folder.path(), "other");
  tls_server server(io, other.issue({.name = "foreign", .hosts = {"127.0.0.1"}}));
  check_refusal(options_for(server.address()), tls_errc::unknown_authority);
}

/// Its name is that of the trusted one, and its key is not.
BOOST_AUTO_TEST_CASE(false_authority) {
  const auto aside = folder.path() / "aside";
  std::filesystem::create_directory(aside);
  testcluster::authority imposter(aside);
  tls_server server(io, imposter.issue({.name = "foreign", .hosts = {"127.0.0.1"}}));
  check_refusal(options_for(server.address()), tls_errc::unknown_authority);
}

BOOST_AUTO_TEST_CASE(authorities_of_the_system) {
  tls_server server(io, server_certificate());
  auto options = options_for(server.address());
  options.tls->authorities.clear();
  check_refusal(options, tls_errc::unknown_authority);
}

BOOST_AUTO_TEST_CASE(wrong_name) {
  tls_server server(io, authority.issue({.name = "other", .hosts = {"127.0.0.2", "other.example"}}));
  check_refusal(options_for(server.address()), tls_errc::wrong_name);
}

BOOST_AUTO_TEST_CASE(expired) {
  tls_server server(io, authority.issue({.name = "old", .hosts = {"127.0.0.1"}, .begin = -48h, .end = -1s}));
  check_refusal(options_for(server.address()), tls_errc::expired);
}

BOOST_AUTO_TEST_CASE(not_yet_valid) {
  tls_server server(io, authority.issue({.name = "new", .hosts = {"127.0.0.1"}, .begin = 1h, .end = 2h}));
  check_refusal(options_for(server.address()), tls_errc::not_yet_valid);
}

BOOST_AUTO_TEST_CASE(revoked) {
  const auto own = server_certificate();
  tls_server server(io, own);
  auto options = options_for(server.address());
  const auto both = (folder.path() / "both.pem").string();
  const auto write_both = [&] {
    std::ofstream to(both);
    for (const auto& each : {authority.certificate(), authority.revocations()}) to << std::ifstream(each).rdbuf();
  };
  write_both();
  options.tls->authorities = both;
  {
    session zk(io.get_executor(), options);
    BOOST_TEST(run_until(io, [&] { return zk.status().state == session_state::connected; }), "on no list");
  }
  authority.revoke(own.certificate);
  write_both();
  check_refusal(options, tls_errc::revoked);
}

BOOST_AUTO_TEST_CASE(old_versions_only) {
  tls_server server(io, server_certificate());
  server.speak(TLS1_VERSION, TLS1_VERSION);
  check_refusal(options_for(server.address()), tls_errc::no_common_version);
}

BOOST_AUTO_TEST_CASE(older_than_the_minimum) {
  tls_server server(io, server_certificate());
  server.speak(TLS1_2_VERSION, TLS1_2_VERSION);
  auto options = options_for(server.address());
  options.tls->minimum_version = tls_version::tls1_3;
  check_refusal(options, tls_errc::no_common_version);
}

BOOST_AUTO_TEST_CASE(plain_text_is_answered) {
  scripted_server server(io, [](scripted_connection client) -> asio::awaitable<void> {
    co_await client.accept(0x55, 5000);
    co_await client.until_end();
  });
  check_refusal(options_for(server.address()), tls_errc::not_tls);
  server.stop();
}

BOOST_AUTO_TEST_CASE(the_connection_ends_at_once) {
  scripted_server server(io, [](scripted_connection) -> asio::awaitable<void> { co_return; });
  check_refusal(options_for(server.address()), tls_errc::not_tls);
  server.stop();
}

BOOST_AUTO_TEST_CASE(no_handshake_within_the_connect_timeout) {
  scripted_server server(io, [](scripted_connection client) -> asio::awaitable<void> { co_await client.until_end(); });
  auto options = options_for(server.address());
  options.connect_timeout = 200ms;
  const auto failure = failure_of(options);
  BOOST_TEST((failure.reason == failure_reason::silent), failure.error.message());
  server.stop();
}

BOOST_AUTO_TEST_CASE(nothing_listens) {
  asio::ip::tcp::acceptor taken(io, {asio::ip::address_v4::loopback(), 0});
  const auto port = taken.local_endpoint().port();
  taken.close();
  const auto failure = failure_of(options_for("127.0.0.1:" + std::to_string(port)));
  BOOST_TEST((failure.reason == failure_reason::refused), failure.error.message());
}

BOOST_AUTO_TEST_CASE(no_network_leads_there) {
  const auto failure = failure_of(options_for("255.255.255.255:1"));
  BOOST_TEST((failure.reason == failure_reason::unreachable), failure.error.message());
}

BOOST_AUTO_TEST_SUITE_END()
