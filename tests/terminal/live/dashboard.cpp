// The dashboard and `zkadmin watch` against real servers.
#include <sstream>

#include <signal.h>

#include "live/admin_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

// `zkadmin watch` against real servers.

namespace {

struct watch_fixture : admin_fixture {
  void start(pseudo_terminal& terminal, std::vector<std::string> more = {}, std::string servers = {}) {
    more.insert(more.begin(), {ZKADMIN_PROGRAM, "watch", root() + "/w"});
    terminal.start(more, {{"ZKADMIN_HOSTS", servers.empty() ? hosts : servers}, {"ZKADMIN_TIMEOUT", "20s"}});
  }

  void set(const std::string& data) {
    const auto done = run(zk().async_set("/w", data, any_version, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(done));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(watch_suite, watch_fixture)

BOOST_AUTO_TEST_CASE(the_life_of_a_node) {
  pseudo_terminal terminal(io(), 200, 20);
  start(terminal);
  const auto path = root() + "/w";
  BOOST_TEST(terminal.shows(" absent " + path));
  create("/w", "first");
  BOOST_TEST(terminal.shows(" created " + path + " version 0, 5 bytes: first"));
  set("second");
  BOOST_TEST(terminal.shows(" changed " + path + " version 1, 6 bytes: second"));
  create("/w/a");
  BOOST_TEST(terminal.shows(" children " + path + " +a"));
  remove("/w/a");
  BOOST_TEST(terminal.shows(" children " + path + " -a"));
  remove("/w");
  BOOST_TEST(terminal.shows(" deleted " + path));
  create("/w", "again");
  BOOST_TEST(terminal.shows(" created " + path + " version 0, 5 bytes: again"));
  terminal.type("\x03");  // ctrl-c
  BOOST_TEST(terminal.exit_code() == 0);
  remove("/w");
}

BOOST_AUTO_TEST_CASE(it_ends_after_so_many_changes) {
  create("/w", "x");
  pseudo_terminal terminal(io(), 200, 20);
  start(terminal, {"--count", "2", "-o", "ndjson"});
  BOOST_TEST(terminal.shows(R"("event":"present")"));
  set("y");
  BOOST_TEST(terminal.shows(R"("event":"changed")"));
  BOOST_TEST(terminal.shows(R"("data":"y")"));
  remove("/w");
  BOOST_TEST(terminal.shows(R"("event":"deleted")"));
  BOOST_TEST(terminal.exit_code() == 0);
}

BOOST_AUTO_TEST_CASE(changes_between_two_looks_are_counted) {
  create("/w", "0");
  pseudo_terminal terminal(io(), 200, 20);
  start(terminal, {}, own().address());
  BOOST_TEST(terminal.shows(" present "));
  own().refuse(true);
  own().cut();
  BOOST_TEST(terminal.shows(" disconnected "));
  for (const char* data : {"1", "2", "3"}) set(data);
  create("/w/a");
  create("/w/b");
  remove("/w/a");
  auto with = options();
  with.hosts = direct_hosts()[0];
  auto direct = connect(with);
  settle(direct);  // its server has all changes before it shows any
  own().refuse(false);
  BOOST_TEST(terminal.shows(" reconnected " + root() + "/w (several changes may be told as one)"));
  BOOST_TEST(terminal.shows(" version 3, 1 byte (2 versions in between not seen): 3"));
  BOOST_TEST(terminal.shows(" +b (2 changes in between not seen)"));
  terminal.send_signal(SIGTERM);
  BOOST_TEST(terminal.exit_code() == 0);
  remove("/w/b");
  remove("/w");
}

// Nothing changes, so nothing is written: it notices all the same that nobody reads any more.
BOOST_AUTO_TEST_CASE(it_ends_with_its_reader) {
  create("/w", "x");
  pseudo_terminal terminal(io(), 200, 20);
  terminal.start({"/bin/sh", "-c", std::string(ZKADMIN_PROGRAM) + " watch " + root() + "/w | head -n 1; echo over"},
                 {{"ZKADMIN_HOSTS", hosts}, {"ZKADMIN_TIMEOUT", "20s"}, {"PATH", "/usr/bin:/bin"}});
  BOOST_TEST(terminal.shows(" present "));
  BOOST_TEST(terminal.shows("over"));
  BOOST_TEST(terminal.exit_code() == 0);
  remove("/w");
}

BOOST_AUTO_TEST_CASE(output_that_can_not_be_written_is_a_failure) {
  create("/w", "x");
  pseudo_terminal terminal(io(), 200, 20);
  terminal.start({"/bin/sh", "-c", std::string(ZKADMIN_PROGRAM) + " watch " + root() + "/w > /dev/full"},
                 {{"ZKADMIN_HOSTS", hosts}, {"ZKADMIN_TIMEOUT", "20s"}});
  BOOST_TEST(terminal.shows("zkadmin: the output could not be written"));
  BOOST_TEST(terminal.exit_code() == 1);
  remove("/w");
}

BOOST_AUTO_TEST_CASE(the_output_stays_as_it_was) {
  create("/w", "x");
  pseudo_terminal terminal(io(), 200, 20);
  const auto before = terminal.modes();
  start(terminal);
  BOOST_TEST(terminal.shows(" present "));
  BOOST_TEST(!terminal.is_non_blocking());
  terminal.send_signal(SIGINT);
  BOOST_TEST(terminal.exit_code() == 0);
  BOOST_TEST(same_modes(terminal.modes(), before));
  remove("/w");
}

BOOST_AUTO_TEST_CASE(without_a_server_it_does_not_begin) {
  BOOST_TEST(zkadmin({"watch", "/w", "--hosts", "127.0.0.1:1", "--timeout", "300ms"}).code == 3);
}

BOOST_AUTO_TEST_SUITE_END()

// The dashboard against real servers: it must show the true state, and soon.

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
