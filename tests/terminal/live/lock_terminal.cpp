// `zkadmin lock` on a terminal: the command has it, and the job control of a shell works.
#include <signal.h>

#include "live/hold_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct on_terminal_fixture : hold_fixture {
  on_terminal_fixture() { leaves("/l"); }

  pseudo_terminal::variables variables() const {
    return {{"ZKADMIN_HOSTS", hosts}, {"PATH", "/usr/bin:/bin"}, {"PS1", "prompt> "},
            {"TERM", "dumb"},         {"HOME", file("")},        {"Z", ZKADMIN_PROGRAM},
            {"W", WITNESS_PROGRAM},   {"L", root() + "/l"},      {"S", file("script")}};
  }
  void start_shell(pseudo_terminal& terminal) {
    terminal.start({"/bin/bash", "--norc", "--noprofile", "-i"}, variables());
    BOOST_TEST_REQUIRE(terminal.shows("prompt>"));
    BOOST_TEST_REQUIRE(is_at_prompt(terminal, true));
  }
  /// The shell reads each key by itself while it waits for a command, and leaves whole lines to one that runs.
  bool is_at_prompt(pseudo_terminal& terminal, bool wanted) {
    const bool is_so = terminal.wait_until([&] { return ((terminal.modes().c_lflag & ICANON) == 0) == wanted; });
    if (!is_so) BOOST_TEST_MESSAGE("the modes are not as expected:\n" << terminal.screen().text());
    return is_so;
  }
  void exit_shell(pseudo_terminal& terminal) {
    BOOST_TEST_REQUIRE(is_at_prompt(terminal, true));
    terminal.type("exit 5\r");
    BOOST_TEST(terminal.exit_code() == 5);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lock_terminal_suite, on_terminal_fixture)

BOOST_AUTO_TEST_CASE(the_command_has_the_terminal) {
  const auto script = write("script", "test -t 0 && test -t 1 && test -t 2 && read x && echo heard $x\n");
  pseudo_terminal terminal(io(), 100, 30);
  terminal.start({ZKADMIN_PROGRAM, "lock", root() + "/l", "--", "sh", script}, variables());
  BOOST_TEST_REQUIRE(gets_length("/l", 1));
  terminal.type("something\r");
  BOOST_TEST(terminal.shows("heard something"));
  BOOST_TEST(terminal.exit_code() == 0);
}

BOOST_AUTO_TEST_CASE(a_job_is_stopped_and_goes_on) {
  write("script", "echo begun $((1 + 1))\nread x\necho heard $x $((1 + 2))\nexit 4\n");
  pseudo_terminal terminal(io(), 100, 30);
  start_shell(terminal);
  terminal.type("$Z lock $L -- bash $S\r");
  BOOST_TEST_REQUIRE(terminal.shows("begun 2"));
  terminal.type("\x1a");
  BOOST_TEST(terminal.shows("Stopped"));
  BOOST_TEST_REQUIRE(is_at_prompt(terminal, true));
  BOOST_TEST(length("/l") == 1);
  terminal.type("fg\r");
  BOOST_TEST_REQUIRE(is_at_prompt(terminal, false));
  terminal.type("a word\r");
  BOOST_TEST(terminal.shows("heard a word 3"));
  BOOST_TEST_REQUIRE(is_at_prompt(terminal, true));
  terminal.type("echo status $?\r");
  BOOST_TEST(terminal.shows("status 4"));
  exit_shell(terminal);
}

BOOST_AUTO_TEST_CASE(a_job_that_is_stopped_while_it_waits_begins_when_it_goes_on) {
  write("script", "echo begun $((1 + 1))\n");
  auto held = take("/l");
  pseudo_terminal terminal(io(), 100, 30);
  start_shell(terminal);
  terminal.type("$Z lock $L -- bash $S\r");
  BOOST_TEST_REQUIRE(gets_length("/l", 2));
  terminal.type("\x1a");
  BOOST_TEST(terminal.shows("Stopped"));
  BOOST_TEST_REQUIRE(is_at_prompt(terminal, true));
  run(held.async_release(tuple));
  BOOST_TEST(gets_length("/l", 1));
  BOOST_TEST(terminal.screen().text().find("begun 2") == std::string::npos);
  terminal.type("fg\r");
  BOOST_TEST(terminal.shows("begun 2"));
  exit_shell(terminal);
}

BOOST_AUTO_TEST_CASE(ctrl_c_ends_the_command_once) {
  write("script",
        "n=0\ntrap 'n=$((n + 1)); echo interrupted' INT\necho $$ >${HOME}pid\necho begun $((1 + 1))\n"
        "until read x; do :; done\necho heard $x $n\n");
  pseudo_terminal terminal(io(), 100, 30);
  start_shell(terminal);
  terminal.type("$Z lock $L -- bash $S\r");
  BOOST_TEST_REQUIRE(terminal.shows("begun 2"));
  // A signal that comes shortly before bash reads is not noticed before it has read something.
  BOOST_TEST_REQUIRE(sleeps("pid"));
  terminal.type("\x03");
  BOOST_TEST_REQUIRE(terminal.shows("interrupted"));
  terminal.type("a word\r");
  BOOST_TEST(terminal.shows("heard a word 1"));
  exit_shell(terminal);
}

BOOST_AUTO_TEST_CASE(a_script_stops_at_ctrl_c) {
  write("script", "for i in 1 2; do $Z lock $L -- $W ${HOME}w$i; done\n");
  pseudo_terminal terminal(io(), 100, 30);
  start_shell(terminal);
  terminal.type("bash $S\r");
  BOOST_TEST_REQUIRE(begins("w1"));
  terminal.type("\x03");
  BOOST_TEST_REQUIRE(is_at_prompt(terminal, true));
  BOOST_TEST(begin_of("w2") == 0);
  BOOST_TEST(is_gone("w1"));
  exit_shell(terminal);
}

// The kernel sends SIGHUP to the leader of the session alone, which is zkadmin here.
BOOST_AUTO_TEST_CASE(the_command_gets_the_signal_when_the_terminal_goes) {
  pseudo_terminal terminal(io(), 100, 30);
  terminal.start(std::vector<std::string>{ZKADMIN_PROGRAM, "lock", root() + "/l"} + witness("w"), variables());
  BOOST_TEST_REQUIRE(begins("w"));
  terminal.hang_up();
  BOOST_TEST(terminal.exit_code() == 128 + SIGHUP);
  BOOST_TEST(is_gone("w"));
}

BOOST_AUTO_TEST_SUITE_END()
