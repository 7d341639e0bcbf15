// A real Prometheus scrapes the metrics, and the alert rules of docs/zkadmin.md fire. Only where $PROMETHEUS names the
// directory of its programs: see with_prometheus.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <string>

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include "exporter/metrics_server.hpp"
#include "http_client.hpp"
#include "pseudo_terminal.hpp"
#include "samples.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace utf = boost::unit_test;

namespace {

using alerts = std::set<std::string>;

std::string place_of_prometheus() {
  const auto* place = std::getenv("PROMETHEUS");
  return place ? place : "";
}

boost::test_tools::assertion_result is_there(utf::test_unit_id) {
  boost::test_tools::assertion_result result(!place_of_prometheus().empty());
  if (!result) result.message() << "no Prometheus";
  return result;
}

/// The block of the page that begins with this line, without the fences.
std::string block_of_page(const std::string& first_line) {
  std::ifstream page(ZKADMIN_PAGE);
  std::string block;
  for (std::string line; std::getline(page, line);) {
    const bool is_inside = !block.empty();
    if (is_inside && line == "```") break;
    if (is_inside || line == first_line) block += line + '\n';
  }
  return block;
}

class temporary_directory {
 public:
  temporary_directory() {
    std::string name = (std::filesystem::temp_directory_path() / "prometheus-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~temporary_directory() { std::filesystem::remove_all(path_); }
  temporary_directory(const temporary_directory&) = delete;

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  std::string path(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// Prometheus beside a server of metrics. Each test process has an address of its own.
struct prometheus_fixture {
  prometheus_fixture() {
    metrics->set(metrics_of_nothing());
    metrics->start();
  }

  void start() {
    // As the page has them, but without waiting.
    const auto rules = std::regex_replace(block_of_page("groups:"), std::regex("for: [0-9]+m"), "for: 0s");
    const auto target = std::regex_replace(metrics->where().name, std::regex("\""), "");
    files.write("rules.yml", rules);
    const auto config = files.write("prometheus.yml",
                                    "global: {scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: "
                                    "200ms}\nrule_files: [rules.yml]\nscrape_configs:\n  - job_name: zkadmin\n"
                                    "    static_configs: [{targets: [\"" +
                                        target + "\"]}]\n");
    const auto address = at.address().to_string() + ":" + std::to_string(at.port());
    program.start({place_of_prometheus() + "/prometheus", "--config.file=" + config,
                   "--storage.tsdb.path=" + files.path("data"), "--web.listen-address=" + address});
  }

  /// The alerts that fire: "ZooKeeperProblem nobody-in-line critical".
  alerts firing() {
    const auto answer = exchange(io, at, "GET /api/v1/alerts HTTP/1.0\r\n\r\n");
    const auto body = answer.find("\r\n\r\n");
    boost::json::error_code error;
    const auto all = boost::json::parse(body == answer.npos ? "" : answer.substr(body + 4), error);
    alerts found;
    if (error || !all.is_object() || !all.as_object().contains("data")) return found;
    for (const auto& each : all.at("data").at("alerts").as_array()) {
      if (each.at("state") != "firing") continue;
      const auto& labels = each.at("labels").as_object();
      std::string text(labels.at("alertname").as_string());
      for (const auto* label : {"name", "severity"})
        if (labels.contains("name")) text += " " + std::string(labels.at(label).as_string());
      found.insert(std::move(text));
    }
    return found;
  }

  /// Serves these findings until exactly the alerts fire that the problems ask for.
  bool fire(const findings& seen, alerts expected) {
    const auto now = std::chrono::system_clock::now();
    const auto kinds = wanted_kinds{.queues = seen.queues.has_value()};
    for (const auto& each : judge(seen, kinds, {}).problems) {
      // The label `severity` of an alert is that of the rule.
      const bool is_critical = each.how_bad == severity::critical;
      expected.insert((is_critical ? "ZooKeeperProblem " : "ZooKeeperWarning ") + each.name +
                      (is_critical ? " page" : " ticket"));
    }
    metrics->set(to_metrics({seen, now, 250ms}, kinds, {}));
    alerts found;
    const bool is_reached = program.wait_until([&] { return (found = firing()) == expected; });
    if (!is_reached) BOOST_TEST(found == expected, boost::test_tools::per_element());
    return is_reached;
  }

  asio::io_context io;
  std::shared_ptr<metrics_server> metrics =
      std::make_shared<metrics_server>(io.get_executor(), endpoint{"127.0.0.1", 0, "127.0.0.1:0"});
  temporary_directory files;
  asio::ip::tcp::endpoint at{asio::ip::address_v4(0x7F700000u + (static_cast<std::uint32_t>(::getpid()) & 0xFFFFu)),
                             9090};
  pseudo_terminal program{io, 200, 40};
};

server_status unreachable(const std::string& name) {
  server_status server;
  server.server = name;
  server.error = "Connection refused";
  return server;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(prometheus_suite, *utf::precondition(is_there))

BOOST_AUTO_TEST_CASE(the_rules_of_the_page_are_valid) {
  temporary_directory files;
  const auto rules = block_of_page("groups:");
  BOOST_TEST_REQUIRE(!rules.empty());
  asio::io_context io;
  pseudo_terminal tool(io, 160, 40);
  tool.start({place_of_prometheus() + "/promtool", "check", "rules", files.write("rules.yml", rules)});
  BOOST_TEST(tool.shows("SUCCESS: 4 rules found"));
  BOOST_TEST(tool.exit_code() == 0);
}

BOOST_FIXTURE_TEST_CASE(each_problem_fires, prometheus_fixture) {
  start();
  BOOST_TEST(fire(samples::sick(), {}));
  BOOST_TEST(fire(samples::healthy(), {}));
  auto nobody = samples::healthy();
  nobody.servers = {unreachable("a:2181"), unreachable("b:2181")};
  BOOST_TEST(fire(nobody, {}));  // no-answer
  auto minority = samples::healthy();
  for (auto& each : minority.servers) each.role = server_role::not_serving;
  BOOST_TEST(fire(minority, {}));  // no-quorum
}

BOOST_FIXTURE_TEST_CASE(what_is_not_known_fires, prometheus_fixture) {
  start();
  auto seen = samples::healthy();
  seen.elections.reset();
  seen.trouble = "no connection";
  BOOST_TEST(fire(seen, {"ZooKeeperNotKnown"}));
  BOOST_TEST(fire(samples::healthy(), {}));
  // Read long ago.
  metrics->set(to_metrics({samples::healthy(), samples::noon(), 250ms}, {.queues = false}, {}));
  BOOST_TEST(program.wait_until([&] { return firing() == alerts{"ZooKeeperNotRead"}; }));
}

BOOST_AUTO_TEST_SUITE_END()
