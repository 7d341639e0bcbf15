// The program itself on a pseudo-terminal.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "base/failure.hpp"
#include "fake_server.hpp"
#include "pseudo_terminal.hpp"
#include "terminal/terminal.hpp"

namespace {

/// A server that answers `srvr` but grants no session, and a terminal.
struct fixture {
  std::vector<std::string> command(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{ZKADMIN_PROGRAM, "--hosts", server.where().name, "--interval", "100ms"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  void start(std::vector<std::string> more = {}, pseudo_terminal::variables environment = {}) {
    before = terminal.modes();
    terminal.start(command(std::move(more)), std::move(environment));
  }

  /// Checks that the program has ended with exit code 0 and has restored the terminal.
  void check_good_end() {
    BOOST_TEST(terminal.exit_code() == 0);
    BOOST_TEST(same_modes(terminal.modes(), before));
    BOOST_TEST(terminal.wait_until([this] { return is_left(); }));
  }

  /// Whether the program has left the alternate screen. To be waited for, because its last output can arrive after its
  /// end.
  bool is_left() const { return terminal.screen().is_cursor_visible() && !terminal.screen().is_alternate_screen(); }

  std::string banner() const { return "QUORUM 1/1 leader " + server.where().name; }

  boost::asio::io_context io;
  fake_server server{io, fake_server::answering(leader_text)};
  pseudo_terminal terminal{io};
  termios before{};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(dashboard, fixture)

BOOST_AUTO_TEST_CASE(starts_shows_the_screen_and_quits) {
  start({"--name", "billing"});
  BOOST_REQUIRE(terminal.shows(banner()));
  BOOST_TEST(terminal.shows("no connection"));
  BOOST_TEST(terminal.screen().line(0).starts_with(" zkadmin  billing "));
  BOOST_TEST(terminal.screen().line(2).starts_with(" ENSEMBLE ──────"));
  BOOST_TEST(terminal.screen().line(3).starts_with("   SERVER "));
  BOOST_TEST(terminal.screen().line(4).find("leader  0x100000001     1     0/0.5/2") != std::string::npos);
  BOOST_TEST(terminal.screen().line(23) == " q quit  ? help  1-9 pages  enter details  / filter  < > sort  Z pause");
  BOOST_TEST(!same_modes(terminal.modes(), before));
  BOOST_TEST(!terminal.screen().is_cursor_visible());
  BOOST_TEST(terminal.screen().is_alternate_screen());
  BOOST_TEST(!terminal.is_non_blocking());
  terminal.type("q");
  check_good_end();
}

BOOST_AUTO_TEST_CASE(keys_work) {
  start();
  BOOST_REQUIRE(terminal.shows(banner()));
  terminal.type("?");
  BOOST_TEST(terminal.shows("KEYS"));
  terminal.type("\x1b");
  BOOST_TEST(terminal.shows("ENSEMBLE"));
  terminal.type("Z");
  BOOST_TEST(terminal.shows("PAUSED"));
  terminal.type("jkgG\x1b[A\x1b[B\r\nx\xc3\xa4RZ");
  BOOST_TEST(terminal.shows_no_more("PAUSED"));
  terminal.type("q");
  check_good_end();
}

BOOST_AUTO_TEST_CASE(resizing_draws_anew) {
  start();
  BOOST_REQUIRE(terminal.shows(banner()));
  terminal.resize(100, 24);
  BOOST_REQUIRE(terminal.shows("VERSION"));
  terminal.resize(50, 12);
  BOOST_TEST(terminal.shows_no_more("VERSION"));
  BOOST_TEST(terminal.wait_until([&] { return terminal.screen().line(11).starts_with(" q quit"); }));
  for (int i = 0; i < 50; ++i) terminal.resize(1 + i * 3, 1 + i);
  terminal.resize(120, 40);
  BOOST_TEST(terminal.wait_until([&] { return terminal.screen().line(39).starts_with(" q quit"); }));
  BOOST_TEST(terminal.shows("3.8.0"));
  terminal.type("q");
  check_good_end();
}

BOOST_DATA_TEST_CASE_F(fixture, signals_leave_a_sane_terminal,
                       boost::unit_test::data::make({SIGTERM, SIGINT, SIGHUP, SIGQUIT}), number) {
  start();
  BOOST_REQUIRE(terminal.shows(banner()));
  terminal.send_signal(number);
  check_good_end();
}

BOOST_AUTO_TEST_CASE(control_c_quits) {
  start();
  BOOST_REQUIRE(terminal.shows(banner()));
  terminal.type("\x03");
  check_good_end();
}

BOOST_AUTO_TEST_CASE(a_shell_can_stop_it_and_bring_it_back) {
  before = terminal.modes();
  terminal.start({"/bin/sh", "-i"}, {{"PS1", "ready> "}});
  BOOST_REQUIRE(terminal.shows("ready>"));
  std::string line;
  for (const auto& word : command()) line += word + " ";
  terminal.type(line + "; echo ended=$?\n");
  BOOST_REQUIRE(terminal.shows(banner()));
  terminal.type("\x1a");
  BOOST_REQUIRE(terminal.wait_until([&] { return !terminal.screen().is_alternate_screen(); }));
  BOOST_TEST(terminal.wait_until([&] { return same_modes(terminal.modes(), before); }));
  terminal.type("fg\n");
  BOOST_REQUIRE(terminal.wait_until([&] { return terminal.screen().is_alternate_screen(); }));
  BOOST_REQUIRE(terminal.shows(banner()));
  terminal.type("q");
  BOOST_REQUIRE(terminal.wait_until([&] { return !terminal.screen().is_alternate_screen(); }));
  BOOST_TEST(terminal.wait_until([&] { return same_modes(terminal.modes(), before); }));
  terminal.type("exit\n");
  BOOST_TEST(terminal.exit_code() == 0);
}

// Without a shell nobody could continue the program after ctrl-z, so it must not stop.
BOOST_AUTO_TEST_CASE(without_a_shell_it_goes_on) {
  start();
  BOOST_REQUIRE(terminal.shows(banner()));
  terminal.type("\x1a");
  terminal.type("?");
  BOOST_TEST(terminal.shows("KEYS"));
  terminal.type("q");
  check_good_end();
}

BOOST_AUTO_TEST_CASE(a_closed_window_ends_it) {
  start();
  BOOST_REQUIRE(terminal.shows(banner()));
  terminal.hang_up();
  BOOST_TEST(terminal.exit_code() == 0);
}

BOOST_DATA_TEST_CASE_F(fixture, terminals_of_many_kinds,
                       boost::unit_test::data::make({"xterm", "xterm-256color", "linux", "vt100", "screen"}), type) {
  start({}, {{"TERM", type}});
  BOOST_REQUIRE(terminal.shows(banner()));
  terminal.type("q");
  BOOST_TEST(terminal.exit_code() == 0);
  BOOST_TEST(same_modes(terminal.modes(), before));
}

BOOST_DATA_TEST_CASE_F(fixture, terminals_that_can_not_be_used, boost::unit_test::data::make({"dumb", "nonesuch"}),
                       type) {
  start({}, {{"TERM", type}});
  BOOST_TEST(terminal.exit_code() == 2);
  BOOST_TEST(terminal.shows("zkadmin: the terminal type \"" + std::string(type)));
  BOOST_TEST(same_modes(terminal.modes(), before));
}

BOOST_AUTO_TEST_CASE(without_a_terminal_it_names_the_other_command) {
  const auto words = command();
  std::string line = "exec";
  for (const auto& word : words) line += " " + word;
  terminal.start({"/bin/sh", "-c", line + " </dev/null"});
  BOOST_TEST(terminal.exit_code() == 2);
  BOOST_TEST(terminal.shows("zkadmin: the dashboard needs a terminal; without one use `zkadmin status`"));
}

BOOST_AUTO_TEST_CASE(colours_unless_they_are_not_wanted) {
  start();
  BOOST_REQUIRE(terminal.shows(banner()));
  BOOST_TEST(terminal.screen().saw_colors());
  terminal.type("q");
  check_good_end();
  pseudo_terminal plain(io);
  plain.start(command(), {{"NO_COLOR", "1"}});
  BOOST_REQUIRE(plain.shows(banner()));
  BOOST_TEST(!plain.screen().saw_colors());
}

BOOST_AUTO_TEST_CASE(a_locale_without_unicode_gets_ascii) {
  start({}, {{"LC_ALL", "C"}});
  BOOST_REQUIRE(terminal.shows(banner()));
  BOOST_TEST(terminal.screen().line(2).starts_with(" ENSEMBLE ------"));
}

BOOST_AUTO_TEST_CASE(an_exception_gives_the_terminal_back) {
  before = terminal.modes();
  terminal.start([] {
    try {
      const zkadmin::terminal taken(true);
      throw std::runtime_error("on purpose");
    } catch (const std::runtime_error&) {
      return 0;
    }
  });
  check_good_end();
}

BOOST_AUTO_TEST_SUITE_END()
