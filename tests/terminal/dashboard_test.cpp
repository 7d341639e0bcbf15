// The dashboard, how often it reads, and `watch`.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <boost/json/parse.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "base/failure.hpp"
#include "cluster/live_readings.hpp"
#include "fake_server.hpp"
#include "pseudo_terminal.hpp"
#include "report/node_report.hpp"
#include "terminal/terminal.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;
namespace json = boost::json;
using kind = node_change::kind;

BOOST_AUTO_TEST_SUITE(pace_of_reading)

BOOST_AUTO_TEST_CASE(reading_takes_a_tenth_of_the_time_at_most) {
  const reading_pace::clock::time_point start{1h};
  reading_pace pace(1s);
  BOOST_TEST(pace.is_due(start, false));
  pace.read(start, start + 2s, 1);
  BOOST_TEST(!pace.is_due(start + 21s, true));
  BOOST_TEST(pace.is_due(start + 22s, true));
}

BOOST_AUTO_TEST_CASE(what_is_not_on_the_screen_is_read_twice_a_minute) {
  const reading_pace::clock::time_point start{1h};
  reading_pace pace(1s);
  pace.read(start, start + 1ms, 1);
  BOOST_TEST(pace.is_due(start + 2s, true));
  BOOST_TEST(!pace.is_due(start + 29s, false));
  BOOST_TEST(pace.is_due(start + 31s, false));
}

BOOST_AUTO_TEST_CASE(the_time_of_an_outage_does_not_count) {
  const reading_pace::clock::time_point start{1h};
  reading_pace pace(1s);
  pace.read(start, start + 10min, 1);
  BOOST_TEST(pace.is_due(start + 10min + 30s, true));
}

BOOST_AUTO_TEST_CASE(twenty_nodes_are_read_in_a_second) {
  const reading_pace::clock::time_point start{1h};
  reading_pace pace(1s);
  pace.read(start, start + 1ms, 100);
  BOOST_TEST(!pace.is_due(start + 5s, true));
  BOOST_TEST(pace.is_due(start + 5s + 1ms, true));
}

BOOST_AUTO_TEST_SUITE_END()

// What `watch` tells of the differences between two looks.

namespace {

zkrecipes::node_data node(std::int64_t creator, std::int32_t version, const std::string& data = "x") {
  zkrecipes::node_data read;
  read.data = data;
  read.stat.czxid = creator;
  read.stat.mzxid = creator + version;
  read.stat.pzxid = creator;
  read.stat.version = version;
  return read;
}

zkrecipes::node_children listed(std::int64_t creator, std::int32_t changes, std::vector<std::string> names) {
  zkrecipes::node_children read;
  read.names = std::move(names);
  read.stat.czxid = creator;
  read.stat.pzxid = creator + 100 + changes;
  read.stat.cversion = changes;
  return read;
}

/// A node that was seen with version 3 and the children b and a.
node_memory seen() {
  node_memory memory;
  BOOST_TEST((memory.begin(node(50, 3)).what == kind::present));
  memory.begin_children(listed(50, 2, {"b", "a"}));
  return memory;
}

using names = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(watching)

BOOST_AUTO_TEST_CASE(versions_that_nobody_saw_are_counted) {
  auto memory = seen();
  const auto next = memory.on_data(node(50, 4));
  BOOST_TEST_REQUIRE(next.size() == 1u);
  BOOST_TEST((next[0].what == kind::changed && next[0].unseen == 0));
  const auto later = memory.on_data(node(50, 7));
  BOOST_TEST((later.at(0).what == kind::changed && later[0].unseen == 2));
  BOOST_TEST(memory.mzxid() == 57);
}

BOOST_AUTO_TEST_CASE(a_version_that_wraps_around_is_the_next_one) {
  node_memory memory;
  memory.begin(node(50, std::numeric_limits<std::int32_t>::max()));
  auto next = node(50, 0);
  next.stat.version = std::numeric_limits<std::int32_t>::min();
  BOOST_TEST((memory.on_data(next).at(0).unseen == 0));
}

BOOST_AUTO_TEST_CASE(children_that_came_and_went) {
  auto memory = seen();
  const auto next = memory.on_children(listed(50, 4, {"c", "b"}));
  BOOST_TEST_REQUIRE(next.size() == 1u);
  BOOST_TEST((next[0].added == names{"c"} && next[0].removed == names{"a"} && next[0].unseen == 0));
  const auto back = memory.on_children(listed(50, 6, {"c", "b"}));
  BOOST_TEST_REQUIRE(back.size() == 1u, "one was created and deleted, or deleted and created");
  BOOST_TEST((back[0].added.empty() && back[0].removed.empty() && back[0].unseen == 2));
  BOOST_TEST(memory.on_children(listed(50, 6, {"b", "c"})).empty());
}

BOOST_AUTO_TEST_CASE(deleted_and_created_again_between_two_looks) {
  auto memory = seen();
  const auto by_data = memory.on_data(node(80, 1));
  BOOST_TEST_REQUIRE(by_data.size() == 2u);
  BOOST_TEST((by_data[0].what == kind::deleted && !by_data[0].unseen));
  BOOST_TEST((by_data[1].what == kind::created && by_data[1].unseen == 1));
  BOOST_TEST(memory.pzxid() == 80, "its first children will be told as added");
  const auto first = memory.on_children(listed(80, 1, {"a"}));
  BOOST_TEST((first.at(0).added == names{"a"} && first[0].unseen == 0));

  const auto by_children = memory.on_children(listed(90, 0, {}));
  BOOST_TEST_REQUIRE(by_children.size() == 1u);
  BOOST_TEST((by_children[0].what == kind::deleted));
  BOOST_TEST((!memory.exists() && memory.mzxid() == 0));
  BOOST_TEST((memory.on_data(node(90, 0)).at(0).what == kind::created));
}

BOOST_AUTO_TEST_CASE(a_node_that_comes_and_goes) {
  node_memory memory;
  BOOST_TEST((memory.begin({}).what == kind::absent));
  BOOST_TEST(memory.on_gone().empty());
  BOOST_TEST(memory.on_children(listed(50, 0, {})).empty());
  BOOST_TEST((memory.on_data(node(50, 0)).at(0).what == kind::created));
  BOOST_TEST((memory.on_gone().at(0).what == kind::deleted));
  BOOST_TEST(memory.on_gone().empty(), "both waits tell of it");
}

BOOST_AUTO_TEST_CASE(lines_for_people) {
  const auto line = [](const node_change& change) { return to_text(change, "/a", 0, node_format::table); };
  const std::string time = "1970-01-01T00:00:00.000Z ";
  const auto read = node(50, 4, "hello\nworld");
  BOOST_TEST(line({kind::changed, read.stat, read.data, {}, {}, 2}) ==
             time + "changed /a version 4, 11 bytes (2 versions in between not seen): hello\uFFFDworld\n");
  BOOST_TEST(line({kind::created, read.stat, std::string("\xff")}) == time + "created /a version 4, 1 byte: binary\n");
  BOOST_TEST(line({kind::children, read.stat, {}, {"b", "\x1b"}, {"c"}, 1}) ==
             time + "children /a +b +\uFFFD -c (1 change in between not seen)\n");
  BOOST_TEST(line({kind::children, read.stat, {}, names(13, "n")}).ends_with(" +n +3 more\n"));
  BOOST_TEST(line({kind::deleted, {}, {}, {}, {}, {}}) ==
             time + "deleted /a (changes before that may not have been seen)\n");
  BOOST_TEST(line({kind::reconnected}) == time + "reconnected /a (several changes may be told as one)\n");
}

BOOST_AUTO_TEST_CASE(lines_for_programs) {
  const auto parsed = [](const node_change& change) {
    const auto text = to_text(change, "/a", 7, node_format::ndjson);
    BOOST_TEST(text.find('\n') == text.size() - 1);
    return json::parse(text).as_object();
  };
  const auto read = node(50, 4);
  const auto changed = parsed({kind::changed, read.stat, std::string("\xff"), {}, {}, 2});
  BOOST_TEST((changed.at("time_ms") == 7 && changed.at("event") == "changed" && changed.at("path") == "/a"));
  BOOST_TEST((changed.at("version") == 4 && changed.at("unseen") == 2));
  BOOST_TEST((changed.at("encoding") == "base64" && changed.at("data") == "/w=="));
  BOOST_TEST(parsed({kind::deleted, {}, {}, {}, {}, {}}).at("unseen").is_null());
  BOOST_TEST(parsed({kind::reconnected}).at("may_have_missed").as_bool());
  const auto children = parsed({kind::children, read.stat, {}, names(10'002, "n"), {"c"}});
  BOOST_TEST(children.at("added_count") == 10'002);
  BOOST_TEST(children.at("added").as_array().size() == 10'000u);
  BOOST_TEST(children.at("removed").at(0) == "c");
  BOOST_TEST(to_text({kind::children, read.stat, {}, {"b\t"}, {"c"}}, "/a", 7, node_format::tsv) ==
             "change\t7\tchildren\t/a\t0\t4\t\t\nadded\t/a\tb\\t\nremoved\t/a\tc\n");
}

BOOST_AUTO_TEST_SUITE_END()

// The program itself on a pseudo-terminal.

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
