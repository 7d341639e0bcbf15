// A server that refuses our certificate: the reason is known although the handshake of TLS 1.3 has succeeded before.
#include <openssl/ssl.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "tls/tls_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
