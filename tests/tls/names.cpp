// The name that is verified is the one that the user has written.
#include <boost/test/unit_test.hpp>

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

BOOST_AUTO_TEST_SUITE_END()
