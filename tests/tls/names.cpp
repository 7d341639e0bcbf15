// The name that is verified is the one that the user has written.
#include <filesystem>
#include <stdexcept>

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <boost/test/unit_test.hpp>

#include <testcluster/ensemble.hpp>

#include "backend/tls/tls_context.hpp"
#include "tls/tls_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct name_case : tls_case {
  testcluster::certificate_files certificate_for(const std::string& host) {
    return authority.issue({.name = "named", .hosts = {host}});
  }
  bool connects(const session_options& options) {
    session zk(io.get_executor(), options);
    run_until(io, [&] {
      const auto status = zk.status();
      return status.state == session_state::connected || !status.failures.empty();
    });
    return zk.status().state == session_state::connected;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_names, name_case)

BOOST_AUTO_TEST_CASE(a_host_name_is_compared_and_asked_for) {
  tls_server server(io, certificate_for("localhost"));
  BOOST_TEST(connects(options_for("localhost:" + server.port())));
  BOOST_TEST(server.asked_name() == "localhost");
}

BOOST_AUTO_TEST_CASE(the_address_that_a_name_leads_to_does_not_count) {
  tls_server server(io, certificate_for("127.0.0.1"));
  check_refusal(options_for("localhost:" + server.port()), tls_errc::wrong_name);
}

/// Authorities give common names to clients as they like: one that is called "zk1" must not be a server for that.
BOOST_AUTO_TEST_CASE(the_common_name_of_a_certificate_is_no_host_name) {
  for (const auto& hosts : {std::vector<std::string>{}, std::vector<std::string>{"127.0.0.1"}}) {
    tls_server server(io, authority.issue({.name = "localhost", .hosts = hosts}));
    told->clear();
    check_refusal(options_for("localhost:" + server.port()), tls_errc::wrong_name);
  }
}

BOOST_AUTO_TEST_CASE(an_address_is_compared_if_it_was_written) {
  tls_server server(io, certificate_for("127.0.0.1"));
  BOOST_TEST(connects(options_for(server.address())));
  BOOST_TEST(server.asked_name() == "", "an address is no name of a server");
}

BOOST_AUTO_TEST_CASE(a_name_does_not_stand_for_an_address) {
  tls_server server(io, certificate_for("localhost"));
  check_refusal(options_for(server.address()), tls_errc::wrong_name);
}

BOOST_AUTO_TEST_CASE(one_name_for_all_servers) {
  tls_server server(io, certificate_for("zookeeper.example"));
  auto options = options_for(server.address());
  options.tls->server_name = "zookeeper.example";
  BOOST_TEST(connects(options));
  BOOST_TEST(server.asked_name() == "zookeeper.example");
}

BOOST_AUTO_TEST_CASE(the_one_name_replaces_the_others) {
  tls_server server(io, server_certificate());
  auto options = options_for(server.address());
  options.tls->server_name = "zookeeper.example";
  check_refusal(options, tls_errc::wrong_name);
}

BOOST_AUTO_TEST_CASE(a_wildcard_is_one_whole_label) {
  tls_server server(io, certificate_for("*.zk.example"));
  auto options = options_for(server.address());
  options.tls->server_name = "one.zk.example.";
  BOOST_TEST(connects(options));
  options.tls->server_name = "a.one.zk.example";
  check_refusal(options, tls_errc::wrong_name);
}

BOOST_AUTO_TEST_CASE(a_server_name_that_is_none_is_refused_by_the_constructor) {
  auto options = options_for("127.0.0.1:1");
  for (const auto* wrong : {".example", "*", "*.example", "[::1]", " ", "a b", "a\nb", "m\xc3\xbcller.example"}) {
    options.tls->server_name = wrong;
    BOOST_CHECK_EXCEPTION(session(io.get_executor(), options), std::invalid_argument, [](const auto& why) {
      return std::string_view(why.what()).starts_with("session_options::tls: server_name is neither");
    });
  }
}

/// The dot says that a host name is whole. Certificates have it without, and so has the name that a server is asked
/// for.
BOOST_AUTO_TEST_CASE(a_dot_behind_the_one_name_does_not_count) {
  tls_server server(io, certificate_for("zookeeper.example"));
  auto options = options_for(server.address());
  options.tls->server_name = "zookeeper.example.";
  BOOST_TEST(connects(options));
  BOOST_TEST(server.asked_name() == "zookeeper.example");
  for (const auto* wrong : {"other.example.", "example.", "zookeeper.example.."}) {
    told->clear();
    options.tls->server_name = wrong;
    check_refusal(options, tls_errc::wrong_name);
  }
}

/// Not every resolver knows a local name with the dot, so what OpenSSL gets is looked at.
BOOST_AUTO_TEST_CASE(a_dot_behind_a_host_does_not_count) {
  backend::tls_context context({.authorities = authority.certificate().string()});
  const auto made = context.make("192.0.2.1:2281", {"one.example.", "two.example"});
  const std::string asked = SSL_get_servername(made.handle.get(), TLSEXT_NAMETYPE_host_name);
  BOOST_TEST(asked == "one.example");
  auto* expected = SSL_get0_param(made.handle.get());
  const std::string first = X509_VERIFY_PARAM_get0_host(expected, 0), second = X509_VERIFY_PARAM_get0_host(expected, 1);
  BOOST_TEST(first == "one.example");
  BOOST_TEST(second == "two.example");
  BOOST_TEST(X509_VERIFY_PARAM_get0_host(expected, 2) == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

// The certificates that testcluster makes.

namespace fs = std::filesystem;

BOOST_FIXTURE_TEST_SUITE(tls_authorities, tls_case)

BOOST_AUTO_TEST_CASE(keys_are_private) {
  const auto made = authority.issue({.name = "server"});
  const auto owner_only = fs::perms::owner_read | fs::perms::owner_write;
  for (const auto& each : {made.key, made.both}) BOOST_TEST((fs::status(each).permissions() == owner_only), each);
  BOOST_TEST(!fs::exists(folder.path() / "authority.key"));
}

BOOST_AUTO_TEST_CASE(a_name_has_to_be_that_of_a_file) {
  for (const auto* each : {"", "a/b", "..", "a b"})
    BOOST_CHECK_THROW(authority.issue({.name = each}), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(an_ensemble_without_tls_has_none) {
  testcluster::ensemble cluster({.servers = 1, .start_timeout = 120s});
  BOOST_CHECK_THROW(cluster.authority(), testcluster::error);
  BOOST_CHECK_THROW(cluster.client_certificate(), testcluster::error);
  BOOST_TEST(cluster.nodes().front().secure == "");
}

BOOST_AUTO_TEST_CASE(a_folder_that_was_given_is_left_empty) {
  const auto dir = folder.path() / "a folder, for #1 = 100%";
  fs::create_directory(dir);
  {
    testcluster::ensemble cluster({.servers = 1, .dir = dir, .tls = true, .start_timeout = 120s});
    BOOST_TEST(fs::exists(cluster.client_certificate().key));
    BOOST_TEST(cluster.hosts() == cluster.nodes().front().secure);
  }
  BOOST_TEST(fs::is_empty(dir));
}

// The servers would take it for another folder, and leave their data there.
BOOST_AUTO_TEST_CASE(a_folder_that_servers_misread_is_refused) {
  for (const auto* name : {"m\u00fcller", "back\\slash", "new\nline"}) {
    const auto dir = folder.path() / name;
    BOOST_CHECK_THROW(testcluster::ensemble({.servers = 1, .dir = dir}), std::invalid_argument);
    BOOST_TEST(!fs::exists(dir));
  }
}

BOOST_AUTO_TEST_SUITE_END()
