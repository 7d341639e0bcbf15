// The metrics, as they are given out and as Prometheus takes them.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <malloc.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/service/metrics_page.hpp>

#include "base/failure.hpp"
#include "exporter/metrics_server.hpp"
#include "http_client.hpp"
#include "pseudo_terminal.hpp"
#include "samples.hpp"
#include "support/temporary_folder.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace utf = boost::unit_test;

// A real Prometheus scrapes the metrics, and the alert rules of docs/zkadmin.md fire. Only where $PROMETHEUS names the
// directory of its programs: see with_prometheus.

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

struct written_folder : zkrecipes::test::temporary_folder {
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path() / name) << text;
    return path() / name;
  }
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
                   "--storage.tsdb.path=" + (files.path() / "data").string(), "--web.listen-address=" + address});
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
  written_folder files;
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
  written_folder files;
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

// The metrics, and the server that gives them out.

namespace {

std::string metrics_of(const findings& seen) {
  return to_metrics({seen, samples::noon(), 250ms}, {.queues = seen.queues.has_value()}, {});
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos || (BOOST_TEST_MESSAGE(text), false);
}

/// A server that gives out "x 1".
struct serving {
  serving() {
    server->set("x 1\n");
    server->start();
  }
  std::string ask(const std::string& request) { return exchange(io, server->where().port, request); }

  asio::io_context io;
  std::shared_ptr<metrics_server> server =
      std::make_shared<metrics_server>(io.get_executor(), endpoint{"127.0.0.1", 0, "127.0.0.1:0"});
};

}  // namespace

BOOST_AUTO_TEST_SUITE(exporter)

BOOST_AUTO_TEST_CASE(format_of_the_text) {
  zkrecipes::service::metrics_page text;
  text.gauge("a_total", "Help.", 3.0);
  text.gauge("b", "More help.", 0.25, {{"x", "1"}, {"y", "back\\slash \"quoted\"\nline"}});
  text.gauge("b", "More help.", 1728043200.125, {{"x", "\xff"}});
  text.gauge("b", "More help.", 5, {{"x", "\xfe"}});              // the same as the one before, once it is valid UTF-8
  text.gauge("b", "More help.", 6, {{"x", "\x1b[31m\xc2\x9b"}});  // orders for a terminal
  BOOST_TEST(text.text() ==
             "# HELP a_total Help.\n# TYPE a_total gauge\na_total 3\n"
             "# HELP b More help.\n# TYPE b gauge\n"
             "b{x=\"1\",y=\"back\\\\slash \\\"quoted\\\"\\nline\"} 0.25\n"
             "b{x=\"\xef\xbf\xbd\"} 1728043200.125\n"
             "b{x=\"\\\\x1b[31m\\\\xc2\\\\x9b\"} 6\n");
}

BOOST_AUTO_TEST_CASE(metrics_of_a_cluster) {
  const auto text = metrics_of(samples::sick());
  for (const char* line :
       {"zkadmin_complete 1",
        "zkadmin_refresh_duration_seconds 0.25",
        "zkadmin_refresh_timestamp_seconds 1728043200",
        "zkadmin_server_up{server=\"127.1.2.1:2181\"} 1",
        "zkadmin_server_up{server=\"127.1.2.3:2181\"} 0",
        "zkadmin_server_role{server=\"127.1.2.2:2181\",role=\"leader\"} 1",
        "zkadmin_server_role{server=\"127.1.2.2:2181\",role=\"follower\"} 0",
        "zkadmin_server_role{server=\"127.1.2.5:2181\",role=\"not_serving\"} 1",
        "zkadmin_server_connections{server=\"127.1.2.1:2181\"} 4",
        "zkadmin_server_outstanding_requests{server=\"127.1.2.1:2181\"} 0",
        "zkadmin_server_nodes{server=\"127.1.2.1:2181\"} 42",
        "zkadmin_server_zxid_epoch{server=\"127.1.2.1:2181\"} 1",
        "zkadmin_server_zxid_in_epoch{server=\"127.1.2.6:2181\"} 31",
        "zkadmin_election_epoch{path=\"/deaf\"} 7",
        "zkadmin_election_phase{path=\"/deaf\",phase=\"executing\"} 1",
        "zkadmin_election_phase{path=\"/deaf\",phase=\"stalled\"} 0",
        "zkadmin_election_phase{path=\"/other\",phase=\"foreign_data\"} 1",
        "zkadmin_election_leader{path=\"/deaf\"} 1",
        "zkadmin_election_leader{path=\"/vacant\"} 0",
        "zkadmin_election_waiters{path=\"/deaf\"} 2",
        "zkadmin_group_shards{path=\"/orders\",state=\"owned\"} 5",
        "zkadmin_group_shards{path=\"/orders\",state=\"moving\"} 3",
        "zkadmin_group_shards{path=\"/orders\",state=\"waiting\"} 2",
        "zkadmin_group_shards{path=\"/orders\",state=\"quarantined\"} 1",
        "zkadmin_group_shards{path=\"/orders\",state=\"unassigned\"} 1",
        "zkadmin_group_members{path=\"/orders\"} 2",
        "zkadmin_group_frozen{path=\"/orders\"} 1",
        "zkadmin_topic_messages_behind{path=\"/mail\",group=\"billing\"} 310",
        "zkadmin_topic_oldest_message_seconds{path=\"/mail\",group=\"billing\"} 360",
        "zkadmin_topic_oldest_message_seconds{path=\"/mail\",group=\"audit\"} 0",
        "zkadmin_topic_dead_letters{path=\"/mail\",group=\"audit\"} 2",
        "zkadmin_queue_items{path=\"/jobs\"} 12",
        "zkadmin_queue_claimed_items{path=\"/tasks\"} 1",
        "zkadmin_queue_waiting_takers{path=\"/tasks\"} 0",
        "zkadmin_queue_dead_letters{path=\"/jobs\"} 3",
        "zkadmin_queue_parked_keys{path=\"/jobs\"} 0",
        "zkadmin_queue_oldest_item_seconds{path=\"/jobs\"} 360",
        "zkadmin_recipe_taken{path=\"/permits\",kind=\"semaphore\"} 3",
        "zkadmin_recipe_size{path=\"/permits\",kind=\"semaphore\"} 2",
        "zkadmin_transactions_undecided{path=\"/payments\"} 3",
        "zkadmin_problem{name=\"nobody-in-line\",where=\"/orders/consumer\",severity=\"critical\"} 1",
        "zkadmin_problem{name=\"dead-letters\",where=\"/mail\",severity=\"warning\"} 1",
        "zkadmin_problems{severity=\"critical\"} 8"})
    BOOST_TEST(has_line(text, line), line);
  // Unknown values have no sample.
  BOOST_TEST(text.find("zkadmin_server_role{server=\"127.1.2.3:2181\"") == std::string::npos);
  BOOST_TEST(text.find("zkadmin_election_epoch{path=\"/other\"}") == std::string::npos);
}

// Prometheus refuses a text in which a family is announced twice, or a sample is there twice.
BOOST_AUTO_TEST_CASE(families_and_samples_are_unique) {
  auto seen = samples::sick();
  seen.servers.push_back(seen.servers[0]);
  seen.elections->found.push_back(seen.elections->found[3]);
  std::istringstream lines(metrics_of(seen));
  std::set<std::string> known;
  std::string family;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("# TYPE ")) family = line.substr(7, line.find(' ', 7) - 7);
    const auto key = line.substr(0, line.rfind(' '));
    BOOST_TEST(known.insert(key).second, line);
    if (!line.starts_with("#")) BOOST_TEST((key == family || key.starts_with(family + "{")), line);
  }
}

BOOST_AUTO_TEST_CASE(unknown_is_not_none) {
  auto seen = samples::healthy();
  seen.elections.reset();
  seen.trouble = "no connection";
  const auto text = metrics_of(seen);
  BOOST_TEST(has_line(text, "zkadmin_complete 0"));
  BOOST_TEST(text.find("zkadmin_election") == std::string::npos);
  BOOST_TEST(has_line(metrics_of(samples::healthy()), "zkadmin_complete 1"));
  BOOST_TEST(has_line(metrics_of(samples::healthy()), "zkadmin_problems{severity=\"critical\"} 0"));
  BOOST_TEST(has_line(metrics_of_nothing(), "zkadmin_complete 0"));
}

BOOST_FIXTURE_TEST_CASE(pages, serving) {
  const auto metrics = http_get(io, server->where().port, "/metrics");
  BOOST_TEST(metrics.starts_with("HTTP/1.1 200 OK\r\n"), metrics);
  BOOST_TEST(metrics.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n") != std::string::npos, metrics);
  BOOST_TEST(metrics.ends_with("\r\n\r\nx 1\n"), metrics);
  server->set("x 2\n");
  BOOST_TEST(http_get(io, server->where().port, "/metrics?name=x").ends_with("\r\n\r\nx 2\n"));
  BOOST_TEST(http_get(io, server->where().port, "/").find("the metrics are at /metrics") != std::string::npos);
  BOOST_TEST(http_get(io, server->where().port, "/other").starts_with("HTTP/1.1 404 "));
}

BOOST_FIXTURE_TEST_CASE(other_methods_and_garbage_are_refused, serving) {
  const auto post = ask("POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
  BOOST_TEST(post.starts_with("HTTP/1.1 405 "), post);
  BOOST_TEST(post.find("Allow: GET\r\n") != std::string::npos, post);
  BOOST_TEST(ask("no http at all\r\n\r\n").starts_with("HTTP/1.1 400 "));
  const std::string header = "GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n";
  BOOST_TEST(ask(header).starts_with("HTTP/1.1 431 "));
  BOOST_TEST(http_get(io, server->where().port, "/metrics").ends_with("x 1\n"));
}

BOOST_FIXTURE_TEST_CASE(clients_that_are_slow_keep_nobody_out, serving) {
  for (const std::string words : {"", "GET /m", "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"}) {
    server->set(std::string(32 * 1024 * 1024, 'x') + "x 1\n");  // more than the buffers of sockets take
    std::vector<std::unique_ptr<asio::ip::tcp::socket>> slow;
    for (std::size_t i = 0; i < metrics_server::most_connections; ++i) {
      slow.push_back(std::make_unique<asio::ip::tcp::socket>(io));
      slow.back()->connect({asio::ip::address_v4::loopback(), server->where().port});
      asio::write(*slow.back(), asio::buffer(words));
      io.restart();
      io.poll();
    }
    for (int i = 0; i < 3; ++i) {
      BOOST_TEST(http_get(io, server->where().port, "/").ends_with("the metrics are at /metrics\n"), words);
    }
    slow.back()->non_blocking(true);
    boost::system::error_code end;
    char byte = 0;
    slow.back()->read_some(asio::buffer(&byte, 1), end);
    BOOST_TEST(end != asio::error::eof, "the last one stands");
  }
}

BOOST_FIXTURE_TEST_CASE(a_client_that_says_nothing_is_cut_off_after_ten_seconds, serving) {
  const auto begin = std::chrono::steady_clock::now();
  BOOST_TEST(ask("GET /metrics HTTP/1.1\r\nHost: ") == "");
  const auto took = std::chrono::steady_clock::now() - begin;
  BOOST_TEST((took >= metrics_server::longest_wait - 100ms));
  BOOST_TEST(http_get(io, server->where().port, "/metrics").ends_with("x 1\n"));
}

// Many that scrape at the same time, and do not read, take no more memory than one.
BOOST_FIXTURE_TEST_CASE(answers_share_the_text, serving) {
  constexpr std::size_t size = 32 * 1024 * 1024;
  constexpr std::size_t clients = 8;
  server->set(std::string(size, 'x'));
  const auto used = [] { return mallinfo2().uordblks + mallinfo2().hblkhd; };
  const auto before = used();
  std::vector<std::unique_ptr<asio::ip::tcp::socket>> all;
  for (std::size_t i = 0; i < clients; ++i) {
    all.push_back(std::make_unique<asio::ip::tcp::socket>(io));
    all.back()->connect({asio::ip::address_v4::loopback(), server->where().port});
    asio::write(*all.back(), asio::buffer(std::string("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")));
    io.restart();
    while (all.back()->available() == 0) io.run_one_for(10ms);
  }
  BOOST_TEST(used() - before < size);
  const auto length = [](const std::string& answer) { return answer.size() - answer.find("\r\n\r\n") - 4; };
  BOOST_TEST(length(http_get(io, server->where().port, "/metrics")) == size);
}

BOOST_AUTO_TEST_CASE(an_address_that_can_not_be_listened_at_is_named) {
  asio::io_context io;
  const metrics_server first(io.get_executor(), {"127.0.0.1", 0, "127.0.0.1:0"});
  try {
    metrics_server(io.get_executor(), first.where());
    BOOST_ERROR("two listen at the same address");
  } catch (const failure& error) {
    BOOST_TEST(std::string(error.what()).starts_with("listening at " + first.where().name + ": "));
  }
  BOOST_CHECK_THROW(metrics_server(io.get_executor(), {"localhost", 0, "localhost:0"}), failure);
}

BOOST_AUTO_TEST_SUITE_END()
