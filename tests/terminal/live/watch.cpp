// `zkadmin watch` against real servers.
#include <signal.h>

#include "live/admin_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
