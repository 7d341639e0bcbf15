// `zkadmin exporter` against real servers, scraped over TCP.
#include <charconv>

#include <signal.h>

#include "fake_server.hpp"
#include "http_client.hpp"
#include "live/admin_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// An exporter on a port of its own, and its scraper.
struct exporter_fixture : admin_fixture {
  void start(pseudo_terminal& terminal) { start(terminal, root()); }
  void start(pseudo_terminal& terminal, const std::string& below, const std::string& timeout = "5s") {
    terminal.start({ZKADMIN_PROGRAM, "exporter", "--root", below, "--refresh", "200ms", "--timeout", timeout,
                    "--listen", "127.0.0.1:0"},
                   {{"ZKADMIN_HOSTS", hosts}});
    const std::string begin = "http://127.0.0.1:";
    BOOST_TEST_REQUIRE(terminal.shows("/metrics"));
    const auto text = terminal.screen().text();
    const auto at = text.find(begin);
    BOOST_TEST_REQUIRE(at != text.npos);
    std::from_chars(text.data() + at + begin.size(), text.data() + text.size(), port);
  }
  std::string scrape() { return http_get(io(), port, "/metrics"); }
  bool comes_to_have(const std::string& line) {
    std::string text;
    const bool found = run_until([&] { return (text = scrape()).find("\n" + line + "\n") != text.npos; });
    if (!found) BOOST_TEST_MESSAGE("no \"" << line << "\" in\n" << text);
    return found;
  }
  std::string problem_line(const std::string& name, const std::string& where, const std::string& severity) {
    return "zkadmin_problem{name=\"" + name + "\",where=\"" + where + "\",severity=\"" + severity + "\"} 1";
  }

  std::uint16_t port = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(exporter_suite, exporter_fixture)

BOOST_AUTO_TEST_CASE(what_the_cluster_does_is_scraped) {
  join("/e", "a");
  join("/e", "b");
  leaves("/e");
  election("/e", is_executing);
  {
    pseudo_terminal terminal(io(), 160, 10);
    start(terminal);
    const auto path = "path=\"" + root() + "/e\"";
    BOOST_TEST(comes_to_have("zkadmin_election_phase{" + path + ",phase=\"executing\"} 1"));
    BOOST_TEST(comes_to_have("zkadmin_complete 1"));
    BOOST_TEST(comes_to_have("zkadmin_election_waiters{" + path + "} 1"));
    BOOST_TEST(comes_to_have("zkadmin_problems{severity=\"critical\"} 0"));
    const auto text = scrape();
    BOOST_TEST(text.starts_with("HTTP/1.1 200 OK\r\n"), text);
    for (const auto& each : direct_hosts())
      BOOST_TEST(text.find("zkadmin_server_up{server=\"" + each + "\"} 1\n") != text.npos, text);
    create("/bad", R"({"zkrecipes":"term","epoch":3,"phase":"executing","how":"clean","hand_over_deadline_ms":0,)"
                   R"("leader":{"id":"a","node":"_c_x-latch-0000000001","token":1}})");
    BOOST_TEST(comes_to_have(problem_line("nobody-in-line", root() + "/bad", "critical")));
    BOOST_TEST(comes_to_have("zkadmin_problems{severity=\"critical\"} 1"));
    remove("/bad");
    BOOST_TEST(comes_to_have("zkadmin_problems{severity=\"critical\"} 0"));
    BOOST_TEST(http_get(io(), port, "/nothing").starts_with("HTTP/1.1 404 "));
    terminal.send_signal(SIGTERM);
    BOOST_TEST(terminal.exit_code() == 0);
  }
}

BOOST_AUTO_TEST_CASE(an_outage_is_told_and_what_is_not_known_has_no_figures) {
  join("/e", "a");
  leaves("/e");
  election("/e", is_executing);
  {
    pseudo_terminal terminal(io(), 160, 10);
    start(terminal);
    BOOST_TEST(comes_to_have("zkadmin_complete 1"));
    {
      const outage without(outage::quorum());
      BOOST_TEST(comes_to_have(problem_line("no-quorum", "ensemble", "critical")));
      BOOST_TEST(comes_to_have("zkadmin_complete 0"));
    }
    BOOST_TEST(comes_to_have("zkadmin_complete 1"));
    BOOST_TEST(comes_to_have("zkadmin_election_leader{path=\"" + root() + "/e\"} 1"));
    terminal.send_signal(SIGINT);
    BOOST_TEST(terminal.exit_code() == 0);
  }
}

BOOST_AUTO_TEST_CASE(an_outage_is_told_at_once_however_long_the_recipes_are_waited_for) {
  join("/e", "a");
  leaves("/e");
  election("/e", is_executing);
  {
    pseudo_terminal terminal(io(), 160, 10);
    start(terminal, root(), "10m");
    BOOST_TEST(comes_to_have("zkadmin_election_leader{path=\"" + root() + "/e\"} 1"));
    {
      const outage without(outage::quorum());
      BOOST_TEST(comes_to_have(problem_line("no-quorum", "ensemble", "critical")));
      BOOST_TEST(comes_to_have("zkadmin_complete 0"));
    }
    BOOST_TEST(comes_to_have("zkadmin_complete 1"));
    terminal.send_signal(SIGTERM);
    BOOST_TEST(terminal.exit_code() == 0);
  }
}

BOOST_AUTO_TEST_CASE(servers_that_serve_and_give_no_session_are_critical) {
  fake_server server(io(), fake_server::answering(leader_text));  // closes other connections
  hosts = server.where().name;
  {
    pseudo_terminal terminal(io(), 160, 10);
    start(terminal, "/", "1s");
    BOOST_TEST(comes_to_have(problem_line("no-session", "ensemble", "critical")));
    BOOST_TEST(comes_to_have("zkadmin_complete 0"));
    BOOST_TEST(comes_to_have("zkadmin_server_up{server=\"" + hosts + "\"} 1"));
    terminal.send_signal(SIGTERM);
    BOOST_TEST(terminal.exit_code() == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_search_that_fails_is_told_and_tried_again) {
  {
    pseudo_terminal terminal(io(), 160, 10);
    start(terminal, root() + "/later");
    BOOST_TEST_REQUIRE(
        run_until([&] { return scrape().find("zkadmin_refresh_duration_seconds") != std::string::npos; }));
    BOOST_TEST(comes_to_have("zkadmin_complete 0"));
    BOOST_TEST(scrape().find("zkadmin_election") == std::string::npos);
    join("/later/e", "a");
    leaves("/later");
    leaves("/later/e");
    BOOST_TEST(comes_to_have("zkadmin_election_leader{path=\"" + root() + "/later/e\"} 1"));
    BOOST_TEST(comes_to_have("zkadmin_complete 1"));
    terminal.send_signal(SIGTERM);
    BOOST_TEST(terminal.exit_code() == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_root_that_is_deleted_is_told_until_it_is_back) {
  create("/x");
  leaves("/x");
  {
    pseudo_terminal terminal(io(), 160, 10);
    start(terminal, root() + "/x");
    BOOST_TEST(comes_to_have("zkadmin_complete 1"));
    remove("/x");
    BOOST_TEST(comes_to_have("zkadmin_complete 0"));
    create("/x");
    BOOST_TEST(comes_to_have("zkadmin_complete 1"));
    terminal.send_signal(SIGTERM);
    BOOST_TEST(terminal.exit_code() == 0);
  }
}

BOOST_AUTO_TEST_CASE(an_address_in_use_is_refused) {
  {
    pseudo_terminal terminal(io(), 160, 10);
    start(terminal);
    const auto where = "127.0.0.1:" + std::to_string(port);
    const auto second = zkadmin({"exporter", "--listen", where});
    BOOST_TEST(second.code == 1);
    BOOST_TEST(second.err.starts_with("zkadmin: listening at " + where + ": "), second.err);
    terminal.send_signal(SIGTERM);
    BOOST_TEST(terminal.exit_code() == 0);
  }
  BOOST_TEST(zkadmin({"exporter", "--listen", "localhost:1"}).code == 2);
}

BOOST_AUTO_TEST_SUITE_END()
