// The dashboard against real servers: it must show the true state, and soon.
#include <sstream>

#include <signal.h>

#include "live/admin_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct dashboard_fixture : admin_fixture {
  /// Starts the dashboard and waits until it shows the elections.
  void start(pseudo_terminal& terminal) {
    before = terminal.modes();
    terminal.start({ZKADMIN_PROGRAM, "dashboard", "--root", root(), "--interval", "200ms"}, {{"ZKADMIN_HOSTS", hosts}});
    BOOST_TEST_REQUIRE(terminal.shows("QUORUM 3/3 leader"));
    BOOST_TEST_REQUIRE(terminal.shows("ELECTIONS 1"));
  }

  void quit(pseudo_terminal& terminal) {
    terminal.type("q");
    BOOST_TEST(terminal.exit_code() == 0);
    BOOST_TEST(same_modes(terminal.modes(), before));
  }

  /// Waits until one line of the screen has all these texts, in this order.
  bool shows_line(pseudo_terminal& terminal, const std::vector<std::string>& parts) {
    const auto has_all = [&parts](const std::string& line) {
      std::size_t from = 0;
      for (const auto& each : parts) {
        from = line.find(each, from);
        if (from == line.npos) return false;
        from += each.size();
      }
      return true;
    };
    return terminal.wait_until([&] {
      std::istringstream lines(terminal.screen().text());
      for (std::string line; std::getline(lines, line);)
        if (has_all(line)) return true;
      return false;
    });
  }

  termios before{};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(dashboard_suite, dashboard_fixture)

BOOST_AUTO_TEST_CASE(a_hand_over_from_its_beginning_to_its_end) {
  auto& first = join("/e", "worker-a");
  join("/e", "worker-b");
  leaves("/e");
  BOOST_TEST_REQUIRE(run_until([&] { return first.leads; }));
  {
    pseudo_terminal terminal(io(), 100, 30);
    start(terminal);
    BOOST_TEST(terminal.shows("executing  worker-a  worker-b"));
    auto& hold = first.hold_back();
    BOOST_TEST(zkadmin({"resign", root() + "/e", "--rw"}).code == 0);
    BOOST_TEST(terminal.shows("worker-a -> worker-b  finishing  "));
    BOOST_TEST(terminal.shows("hand-over worker-a -> worker-b began"));
    terminal.type("\r");
    BOOST_TEST(terminal.shows("phase        handing_over"));
    BOOST_TEST(terminal.shows("  1  worker-b"));
    terminal.type("\x1b");
    hold.open();
    BOOST_TEST(terminal.shows("term 2 began (clean)"));
    BOOST_TEST(terminal.shows("leader worker-a -> worker-b"));
    BOOST_TEST(terminal.shows("executing  worker-b  worker-a"));
    quit(terminal);
  }
}

BOOST_AUTO_TEST_CASE(a_server_goes_down_and_comes_back) {
  auto& only = join("/e", "worker-a");
  leaves("/e");
  BOOST_TEST_REQUIRE(run_until([&] { return only.leads; }));
  const int down = cluster().leader() == 1 ? 2 : 1;
  const auto& name = direct_hosts()[static_cast<std::size_t>(down - 1)];
  {
    pseudo_terminal terminal(io(), 100, 30);
    start(terminal);
    outage without({down});
    BOOST_TEST(terminal.shows("QUORUM 2/3 leader"));
    BOOST_TEST(shows_line(terminal, {name, "down", "Connection refused"}));
    // The first sign may be that a question was cut off, or that no answer came in time.
    BOOST_TEST((shows_line(terminal, {name + " is "}) || shows_line(terminal, {name + ": ", "-> down: "})));
    without.end();
    BOOST_TEST(shows_line(terminal, {name + ": ", " -> follower"}));
    BOOST_TEST(terminal.shows("QUORUM 3/3 leader"));
    quit(terminal);
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_is_paused_is_silent_and_comes_back) {
  auto& only = join("/e", "worker-a");
  leaves("/e");
  BOOST_TEST_REQUIRE(run_until([&] { return only.leads; }));
  const int hung = cluster().leader() == 1 ? 2 : 1;
  const auto& name = direct_hosts()[static_cast<std::size_t>(hung - 1)];
  {
    pseudo_terminal terminal(io(), 100, 30);
    start(terminal);
    cluster().pause(hung);
    BOOST_TEST(terminal.shows("  silent  "));
    BOOST_TEST(terminal.shows(name + " is silent: no answer within "));
    cluster().resume(hung);
    BOOST_TEST(terminal.shows(name + ": silent -> "));
    BOOST_TEST(terminal.shows("QUORUM 3/3 leader"));
    quit(terminal);
  }
  cluster().wait_serving();
}

BOOST_AUTO_TEST_CASE(elections_grow_old_without_a_quorum_and_are_fresh_again) {
  auto& only = join("/e", "worker-a");
  leaves("/e");
  BOOST_TEST_REQUIRE(run_until([&] { return only.leads; }));
  {
    pseudo_terminal terminal(io(), 100, 30);
    start(terminal);
    outage without(outage::quorum());
    BOOST_TEST(terminal.shows("NO QUORUM 0/3"));
    BOOST_TEST(terminal.shows("not serving"));
    BOOST_TEST(terminal.shows("stale "));
    BOOST_TEST(terminal.screen().text().find("worker-a") != std::string::npos);
    without.end();
    BOOST_TEST(terminal.shows("QUORUM 3/3 leader"));
    BOOST_TEST(terminal.shows_no_more("stale "));
    quit(terminal);
  }
  BOOST_TEST(run_until([&] { return only.leads; }));
}

BOOST_AUTO_TEST_CASE(elections_that_are_new_are_found) {
  auto& only = join("/e", "worker-a");
  leaves("/e");
  BOOST_TEST_REQUIRE(run_until([&] { return only.leads; }));
  {
    pseudo_terminal terminal(io(), 100, 30);
    start(terminal);
    join("/later", "worker-x");
    leaves("/later");
    BOOST_TEST(terminal.shows(root() + "/later: new election"));
    BOOST_TEST(terminal.shows("ELECTIONS 2"));
    terminal.send_signal(SIGTERM);
    BOOST_TEST(terminal.exit_code() == 0);
    BOOST_TEST(same_modes(terminal.modes(), before));
  }
}

BOOST_AUTO_TEST_SUITE_END()
