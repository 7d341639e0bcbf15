// A real server that speaks TLS.
#include <algorithm>

#include <boost/test/unit_test.hpp>

#include <testcluster/ensemble.hpp>
#include <testcluster/proxy.hpp>

#include "tls/captured_stream.hpp"
#include "tls/secure_server.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct real_case : secure_case {
  error_code create(session& zk, const std::string& path, const std::string& data = {}, acl access = {}) {
    auto done = run(zk.async_create(path, data, create_mode::ephemeral, access, tuple));
    return std::get<0>(done);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_real_server, real_case)

BOOST_AUTO_TEST_CASE(a_node_is_created) {
  session zk(io.get_executor(), options());
  BOOST_TEST(create(zk, "/first", "data") == error_code());
  auto read = run(zk.async_get("/first", tuple));
  BOOST_TEST(std::get<0>(read) == error_code());
  BOOST_TEST(std::get<1>(read).data == "data");
  BOOST_TEST(zk.status().server == server.proxy);
  run(zk.async_close(tuple));
  BOOST_TEST(zk.counters().connects == 1u);
}

BOOST_AUTO_TEST_CASE(much_data_passes_both_ways) {
  session zk(io.get_executor(), options());
  const std::string data(900'000, 'x');
  BOOST_TEST(create(zk, "/large", data) == error_code());
  auto read = run(zk.async_get("/large", tuple));
  BOOST_TEST((std::get<1>(read).data == data));
}

BOOST_AUTO_TEST_CASE(a_certificate_is_an_identity_in_an_acl) {
  session zk(io.get_executor(), options());
  BOOST_TEST(create(zk, "/own", "data", {x509_entry("CN=client")}) == error_code());
  session other(io.get_executor(), options_with(cluster.authority().issue({.name = "other"})));
  auto read = run(other.async_get("/own", tuple));
  BOOST_TEST((std::get<0>(read) == errc::no_auth), std::get<0>(read).message());
  auto written = run(other.async_set("/own", "theirs", any_version, tuple));
  BOOST_TEST((std::get<0>(written) == errc::no_auth), std::get<0>(written).message());
  written = run(zk.async_set("/own", "ours", any_version, tuple));
  BOOST_TEST(std::get<0>(written) == error_code());
  auto shown = run(zk.async_get_acl("/own", tuple));
  BOOST_TEST((std::get<1>(shown) == acl{x509_entry("CN=client")}));
}

BOOST_AUTO_TEST_CASE(the_acl_of_the_creator_names_its_certificate) {
  session zk(io.get_executor(), options());
  BOOST_TEST(create(zk, "/mine", "data", creator_acl()) == error_code());
  auto shown = run(zk.async_get_acl("/mine", tuple));
  const auto& all = std::get<1>(shown);
  BOOST_TEST((std::ranges::count(all, x509_entry("CN=client")) == 1));
}

BOOST_AUTO_TEST_CASE(a_certificate_will_do_for_a_server_that_demands_credentials) {
  testcluster::ensemble strict({.servers = 1, .tls = true, .auth_required = true, .start_timeout = 120s});
  auto with = options_with(strict.client_certificate());
  with.hosts = strict.hosts();
  with.tls->authorities = strict.authority().certificate().string();
  session zk(io.get_executor(), with);
  BOOST_TEST(create(zk, "/made") == error_code());
  BOOST_TEST(zk.status().failures.empty());
  run(zk.async_close(tuple));
  auto plain = options_for(strict.nodes().front().address);
  plain.tls.reset();
  const auto failure = failure_of(plain);
  BOOST_TEST((failure.error == errc::auth_required), failure.error.message());
}

BOOST_AUTO_TEST_CASE(the_server_asks_for_a_certificate) {
  auto without = options();
  without.tls->certificate.clear();
  without.tls->key.clear();
  check_refusal(without, tls_errc::certificate_required);
}

BOOST_AUTO_TEST_CASE(the_server_does_not_know_our_authority) {
  check_refusal(options_with(authority.issue({.name = "stranger"})), tls_errc::own_certificate_refused);
}

BOOST_AUTO_TEST_CASE(our_certificate_has_expired) {
  check_refusal(options_with(cluster.authority().issue({.name = "late", .end = -1s})),
                tls_errc::own_certificate_expired);
}

/// The server reads the list of the authority when it sees the first certificate, so the list is complete before.
/// The certificates tell where that list is, in a folder whose name has to be written in another way there.
BOOST_AUTO_TEST_CASE(our_certificate_is_revoked) {
  testcluster::ensemble strict({.servers = 1,
                                .dir = folder.path() / "a, 100% c",
                                .tls = true,
                                .extra_config = {"ssl.crl=true"},
                                .start_timeout = 120s});
  const auto revoked = strict.authority().issue({.name = "revoked"});
  strict.authority().revoke(revoked.certificate);
  auto with = options_with(strict.client_certificate());
  with.hosts = strict.hosts();
  with.tls->authorities = strict.authority().certificate().string();
  session zk(io.get_executor(), with);
  BOOST_TEST(create(zk, "/taken") == error_code());
  with.tls->certificate = revoked.certificate.string();
  with.tls->key = revoked.key.string();
  told->clear();  // a server that has just been started can be slow in its first handshake
  check_refusal(with, tls_errc::own_certificate_refused);
}

BOOST_AUTO_TEST_CASE(plain_text_at_the_secure_port) {
  auto plain = options_for(server.secure);
  plain.tls.reset();
  const auto failure = failure_of(plain);
  BOOST_TEST((failure.reason == failure_reason::closed), to_string(failure.reason));
}

BOOST_AUTO_TEST_CASE(tls_at_the_plain_port) {
  auto wrong = options();
  wrong.hosts = server.address;
  check_refusal(wrong, tls_errc::not_tls);
}

BOOST_AUTO_TEST_CASE(the_session_outlives_its_connections) {
  session zk(io.get_executor(), options());
  BOOST_TEST(create(zk, "/lasting") == error_code());
  const auto id = zk.status().session_id;
  for (int i = 0; i < 5; ++i) {
    cluster.proxy(1).cut();
    auto read = run(zk.async_get("/lasting", tuple));
    BOOST_TEST(std::get<0>(read) == error_code());
  }
  BOOST_TEST(zk.status().session_id == id);
  BOOST_TEST(zk.counters().connects > 1u);
}

BOOST_AUTO_TEST_CASE(a_stream_without_plain_text) {
  const std::string secret = "a secret in our data";
  captured_stream wire(io, server.secure);
  auto through = options();
  through.hosts = wire.address();
  through.tls->server_name = "localhost";
  through.digest = {{"user", "a secret of our digest"}};
  {
    session zk(io.get_executor(), through);
    BOOST_TEST(create(zk, "/a-secret-path", secret) == error_code());
    auto read = run(zk.async_get("/a-secret-path", tuple));
    BOOST_TEST(std::get<1>(read).data == secret);
    run(zk.async_close(tuple));
  }
  BOOST_TEST(wire.bytes().size() > 1000u);
  for (const auto* part : {"secret", "user", "digest", "zookeeper"})
    BOOST_TEST(wire.bytes().find(part) == std::string::npos);
  wire.stop();
}

BOOST_AUTO_TEST_CASE(fifty_reloads_under_load) {
  session zk(io.get_executor(), options());
  BOOST_TEST(create(zk, "/counter") == error_code());
  const auto id = zk.status().session_id;
  std::size_t reads = 0, failures = 0;
  bool is_over = false;
  auto load = [&]() -> asio::awaitable<bool> {
    while (!is_over) {
      auto read = co_await zk.async_get("/counter", tuple);
      ++(std::get<0>(read) ? failures : reads);
    }
    co_return true;
  };
  bool has_ended = false;
  asio::co_spawn(io, load(), [&](std::exception_ptr, bool) { has_ended = true; });
  // The files are read when a connection is begun. A cut would spare a connection that the proxy has not accepted yet,
  // so each connection is up before it is cut.
  const auto is_up = [&] { return zk.status().state == session_state::connected; };
  for (std::size_t i = 1; i <= 50; ++i) {
    cluster.authority().issue({.name = "client"});
    cluster.proxy(1).cut();
    BOOST_TEST_REQUIRE(run_until(io, [&] { return count(session_event::certificates_reloaded) == i && is_up(); }));
    BOOST_TEST_REQUIRE(run_until(io, [&, before = reads] { return reads > before; }));
  }
  is_over = true;
  BOOST_TEST(run_until(io, [&] { return has_ended; }));
  BOOST_TEST(failures == 0u);
  BOOST_TEST(zk.status().session_id == id);
  BOOST_TEST(zk.counters().incarnations == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
