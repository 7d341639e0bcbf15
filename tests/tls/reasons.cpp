// A server whose certificate or version is of no use is refused, with the reason, within two seconds.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

#include <openssl/err.h>
#include <openssl/rsa.h>
#include <openssl/ssl.h>

#include <boost/asio/ssl/error.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "backend/tls/tls_context.hpp"
#include "support/scripted_server.hpp"
#include "tls/tls_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct reasons_case : tls_case {
  /// For a session that trusts `authority` and heeds these lists of revoked certificates.
  session_options options_with(const std::vector<std::filesystem::path>& lists, const tls_server& server) {
    auto options = options_for(server.address());
    options.tls->authorities = (folder.path() / "both.pem").string();
    std::ofstream to(options.tls->authorities);
    to << std::ifstream(authority.certificate()).rdbuf();
    for (const auto& each : lists) to << std::ifstream(each).rdbuf();
    return options;
  }
  void check_taken(const session_options& options) {
    session zk(io.get_executor(), options);
    BOOST_TEST(run_until(io, [&] { return zk.status().state == session_state::connected; }));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_reasons, reasons_case)

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
  const std::vector lists{authority.revocations()};
  check_taken(options_with(lists, server));
  authority.revoke(own.certificate);
  check_refusal(options_with(lists, server), tls_errc::revoked);
}

BOOST_AUTO_TEST_CASE(behind_a_revoked_authority) {
  testcluster::authority intermediate(authority, "intermediate");
  tls_server server(io, intermediate.issue({.name = "below", .hosts = {"127.0.0.1"}}));
  const std::vector lists{authority.revocations(), intermediate.revocations()};
  check_taken(options_with(lists, server));
  authority.revoke(intermediate.certificate());
  check_refusal(options_with(lists, server), tls_errc::revoked);
}

BOOST_AUTO_TEST_CASE(behind_an_authority_without_a_list) {
  testcluster::authority intermediate(authority, "intermediate");
  tls_server server(io, intermediate.issue({.name = "below", .hosts = {"127.0.0.1"}}));
  check_taken(options_for(server.address()));
  check_refusal(options_with({authority.revocations()}, server), tls_errc::unusable_certificate);
}

// OpenSSL tells first what its part for RSA found.
BOOST_AUTO_TEST_CASE(a_signature_by_another_key_of_rsa) {
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  const std::unique_ptr<SSL, void (*)(SSL*)> connection(SSL_new(context.get()), &SSL_free);
  const error_code padding(static_cast<int>(ERR_PACK(ERR_LIB_RSA, 0, RSA_R_INVALID_PADDING)),
                           asio::error::get_ssl_category());
  BOOST_TEST(backend::tls_reason(padding, connection.get()) == make_error_code(tls_errc::handshake_failed));
  SSL_set_verify_result(connection.get(), X509_V_ERR_CERT_SIGNATURE_FAILURE);
  BOOST_TEST(backend::tls_reason(padding, connection.get()) == make_error_code(tls_errc::unknown_authority));
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

/// It speaks TLS, so the advice is not that the port may be for TLS.
BOOST_AUTO_TEST_CASE(the_connection_ends_behind_the_handshake) {
  tls_server server(io, server_certificate());
  server.end_behind_handshakes();
  const auto failure = failure_of(options_for(server.address()));
  BOOST_TEST((failure.reason == failure_reason::closed), failure.error.message());
  const auto found = std::ranges::find(*told, session_event::connect_failed, &told_event::event);
  BOOST_TEST_REQUIRE((found != told->end()));
  BOOST_TEST(found->line.find("it may have no quorum") != std::string::npos, found->line);
  BOOST_TEST(found->line.find("TLS only") == std::string::npos, found->line);
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

// A server that refuses our certificate: the reason is known although the handshake of TLS 1.3 has succeeded before.

namespace {

struct refusal_case : tls_case {
  tls_server server{io, server_certificate()};

  explicit refusal_case() { server.require_client(authority.certificate().string()); }

  session_options options_with(const testcluster::certificate_files& own) {
    auto options = options_for(server.address());
    options.tls->certificate = own.certificate.string();
    options.tls->key = own.key.string();
    return options;
  }
};

constexpr int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_refusals, refusal_case)

BOOST_DATA_TEST_CASE(our_certificate_is_taken, versions, version) {
  server.speak(version, version);
  session zk(io.get_executor(), options_with(authority.issue({.name = "client"})));
  BOOST_TEST(run_until(io, [&] { return zk.status().state == session_state::connected; }));
  BOOST_TEST(!server.client_serial().empty());
}

BOOST_DATA_TEST_CASE(we_have_none, versions, version) {
  server.speak(version, version);
  const auto failure = failure_of(options_for(server.address()));
  BOOST_TEST((failure.reason == failure_reason::tls), to_string(failure.reason));
  BOOST_TEST((failure.error == tls_errc::certificate_required), failure.error.message());
}

BOOST_DATA_TEST_CASE(of_an_unknown_authority, versions, version) {
  server.speak(version, version);
  testcluster::authority other(folder.path(), "other");
  check_refusal(options_with(other.issue({.name = "stranger"})), tls_errc::own_authority_unknown);
}

BOOST_DATA_TEST_CASE(expired, versions, version) {
  server.speak(version, version);
  check_refusal(options_with(authority.issue({.name = "late", .end = -1s})), tls_errc::own_certificate_expired);
}

// By which alert a server refuses depends on its TLS library; what we know of our own certificate does not.
BOOST_DATA_TEST_CASE(without_a_reason, versions, version) {
  server.speak(version, version);
  server.refuse_without_a_reason();
  check_refusal(options_with(authority.issue({.name = "client"})), tls_errc::own_certificate_refused);
}

BOOST_DATA_TEST_CASE(expired_and_without_a_reason, versions, version) {
  server.speak(version, version);
  server.refuse_without_a_reason();
  check_refusal(options_with(authority.issue({.name = "late", .end = -1s})), tls_errc::own_certificate_expired);
}

BOOST_DATA_TEST_CASE(revoked, versions, version) {
  server.speak(version, version);
  const auto own = authority.issue({.name = "revoked"});
  authority.revoke(own.certificate);
  server.heed_revocations(authority.revocations().string());
  check_refusal(options_with(own), tls_errc::own_certificate_revoked);
}

BOOST_AUTO_TEST_SUITE_END()
