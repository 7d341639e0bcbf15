// zkadmin with a server that asks for certificates.
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <testcluster/ensemble.hpp>

#include "live/running_program.hpp"

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

struct secure_case {
  boost::asio::io_context io;
  testcluster::ensemble cluster{{.servers = 1, .tls = true, .start_timeout = 120s}};

  program_result run(std::vector<std::string> arguments) {
    const auto& own = cluster.client_certificate();
    const std::map<std::string, std::string> variables{{"ZKADMIN_TLS_AUTHORITIES", cluster.authority().certificate()},
                                                       {"ZKADMIN_TLS_CERTIFICATE", own.certificate},
                                                       {"ZKADMIN_TLS_KEY", own.key}};
    arguments.insert(arguments.end(), {"--hosts", cluster.hosts(), "--timeout", "30s"});
    return run_zkadmin(io, std::move(arguments), variables);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(secure_suite, secure_case)

BOOST_AUTO_TEST_CASE(the_server_and_its_nodes_are_read) {
  const auto status = run({"status", "-o", "json"});
  BOOST_TEST_REQUIRE(status.code == 0, status.err);
  const auto document = json::parse(status.out);
  const auto& server = document.at("ensemble").as_array().at(0);
  BOOST_TEST(server.at("reachable").as_bool());
  BOOST_TEST(server.at("role") == "standalone");
  const auto nodes = run({"ls", "/"});
  BOOST_TEST(nodes.code == 0, nodes.err);
  BOOST_TEST(nodes.out.find("zookeeper") != std::string::npos, nodes.out);
}

// The server has a port without TLS, too.
BOOST_AUTO_TEST_CASE(its_settings_are_checked) {
  const auto checked = run({"check", "--security", "--only", "servers", "-o", "json"});
  BOOST_TEST(checked.code == 1, checked.out << checked.err);
  const auto document = json::parse(checked.out);
  const auto& found = document.at("problems").as_array();
  BOOST_TEST_REQUIRE(found.size() == 1u, checked.out);
  BOOST_TEST(found[0].at("name") == "plain-port-open");
}

BOOST_AUTO_TEST_CASE(the_reason_of_a_refusal_is_told) {
  const auto status = run({"status", "--tls-server-name", "elsewhere.example"});
  BOOST_TEST(status.code != 0);
  BOOST_TEST((status.out + status.err).find("certificate is for another name") != std::string::npos,
             status.out + status.err);
}

BOOST_AUTO_TEST_SUITE_END()
