// Each key of the table, typed at a terminal, against real servers.
#include "live/admin_fixture.hpp"
#include "pseudo_terminal.hpp"
#include "screen/key_table.hpp"

namespace {

using zkadmin::action;
using zkadmin::key_binding;
using zkadmin::key_table;
using zkadmin::page;
using zkadmin::stroke;
using zkadmin::title_of;
namespace strokes = zkadmin::strokes;
using zkrecipes::test::tuple;

/// What a terminal of the type xterm sends.
std::string bytes_of(stroke typed) {
  switch (typed) {
    case strokes::up: return "\x1bOA";
    case strokes::down: return "\x1bOB";
    case strokes::home: return "\x1bOH";
    case strokes::end: return "\x1bOF";
    case strokes::page_up: return "\x1b[5~";
    case strokes::page_down: return "\x1b[6~";
    case strokes::shift_tab: return "\x1b[Z";
    case strokes::wheel_up: return "\x1b[<64;5;5M";
    case strokes::wheel_down: return "\x1b[<65;5;5M";
    default: return std::string(1, static_cast<char>(typed));
  }
}

constexpr int elections_made = 20;

struct keys_fixture : admin_fixture {
  void make_elections() {
    for (int i = 0; i < elections_made; ++i) {
      create(name(i));
      create(name(i) + "/_c_x-latch-0000000001");
      leaves(name(i));
      leaves(name(i) + "/_c_x-latch-0000000001");
    }
  }

  static std::string name(int i) { return (i < 10 ? "/e-0" : "/e-") + std::to_string(i); }

  /// Nothing is read again by itself in the time of a test. Eight rows of a list fit on the screen.
  void start(pseudo_terminal& terminal) {
    terminal.start({ZKADMIN_PROGRAM, "--root", root(), "--interval", "1h"}, {{"ZKADMIN_HOSTS", hosts}});
    BOOST_TEST_REQUIRE(terminal.shows("QUORUM 3/3 leader"));
    BOOST_TEST_REQUIRE(terminal.shows("ELECTIONS 20"));
    terminal.type("3");
    BOOST_TEST_REQUIRE(terminal.shows("FOR"));
  }

  bool selects(pseudo_terminal& terminal, int index) { return terminal.shows("▸ " + root() + name(index) + " "); }

  void check_move(pseudo_terminal& terminal, const std::string& typed, const std::string& before, int index) {
    terminal.type("3g" + before + typed);
    BOOST_TEST(selects(terminal, index));
  }

  void check_shown(pseudo_terminal& terminal, const std::string& typed, const std::string& text) {
    terminal.type(typed);
    BOOST_TEST(terminal.shows(text));
  }

  /// Whether the key did what it should. The elections are on the screen before and after.
  void check(pseudo_terminal& terminal, const key_binding& key, const std::string& typed);
  void check_refresh(pseudo_terminal& terminal, const std::string& typed);
  void check_end(const std::string& typed);
};

/// The heading of a page: no other page has this text.
std::string heading_of(page which) {
  return which == page::overview ? " ENSEMBLE ─" : " " + std::string(title_of(which)) + " ";
}

void keys_fixture::check(pseudo_terminal& terminal, const key_binding& key, const std::string& typed) {
  switch (key.does) {
    case action::go_to: check_shown(terminal, typed, heading_of(key.target)); break;
    case action::next_page: check_shown(terminal, typed, heading_of(page::groups)); break;
    case action::last_page: check_shown(terminal, typed, heading_of(page::problems)); break;
    case action::previous: check_shown(terminal, "8" + typed + "3" + typed, heading_of(page::elections)); break;
    case action::up: check_move(terminal, typed, "jj", 1); break;
    case action::down: check_move(terminal, typed, "", 1); break;
    case action::page_up: check_move(terminal, typed, std::string(9, 'j'), 1); break;
    case action::page_down: check_move(terminal, typed, "", 8); break;
    case action::half_up: check_move(terminal, typed, std::string(9, 'j'), 5); break;
    case action::half_down: check_move(terminal, typed, "", 4); break;
    case action::wheel_up: check_move(terminal, typed, std::string(9, 'j'), 6); break;
    case action::wheel_down: check_move(terminal, typed, "", 3); break;
    case action::first: check_move(terminal, typed, "jjj", 0); break;
    case action::last: check_move(terminal, typed, "", elections_made - 1); break;
    case action::open: check_shown(terminal, "3g" + typed, "ELECTION " + root() + name(0)); break;
    case action::back: check_shown(terminal, "3g\r" + typed, "ELECTIONS 20"); break;
    case action::filter:
      check_shown(terminal, typed + "e-07", "ELECTIONS 1 of 20 /e-07");
      check_shown(terminal, "\x1b", "ELECTIONS 20 ─");
      break;
    case action::sort_right:
      check_shown(terminal, typed, "ELECTIONS 20 by PATH");
      check_shown(terminal, "<", "ELECTIONS 20 ─");
      break;
    case action::sort_left:
      check_shown(terminal, ">>", "ELECTIONS 20 by EPOCH");
      check_shown(terminal, typed, "ELECTIONS 20 by PATH");
      check_shown(terminal, typed, "ELECTIONS 20 ─");
      break;
    case action::invert:
      check_shown(terminal, typed, "ELECTIONS 20 inverted");
      check_shown(terminal, typed, "ELECTIONS 20 ─");
      break;
    case action::command: check_shown(terminal, typed + "events\r", heading_of(page::events)); break;
    case action::refresh: check_refresh(terminal, typed); break;
    case action::pause:
      check_shown(terminal, typed, "PAUSED");
      terminal.type(typed);
      BOOST_TEST(terminal.shows_no_more("PAUSED"));
      break;
    case action::help: check_shown(terminal, typed, " KEYS ─"); break;
    case action::suspend:
      check_shown(terminal, typed + "2", heading_of(page::problems));
      break;  // no shell: it goes on
    case action::quit: break;
  }
  terminal.type("\x1b");
  terminal.type("3");
  BOOST_TEST(terminal.shows(" ELECTIONS 20 "));
}

void keys_fixture::check_refresh(pseudo_terminal& terminal, const std::string& typed) {
  run(zk().async_set(name(0), "not ours", zkrecipes::any_version, tuple));
  check_shown(terminal, typed, " 19 critical, 1 warning");
  run(zk().async_set(name(0), "", zkrecipes::any_version, tuple));
  check_shown(terminal, typed, " 20 critical ");
}

void keys_fixture::check_end(const std::string& typed) {
  pseudo_terminal terminal(io(), 100, 13);
  start(terminal);
  terminal.type(typed);
  BOOST_TEST(terminal.exit_code() == 0);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(keys_suite, keys_fixture)

BOOST_AUTO_TEST_CASE(each_key_of_the_table) {
  make_elections();
  pseudo_terminal terminal(io(), 100, 13);
  start(terminal);
  for (const auto& key : key_table())
    for (const auto typed : key.typed) {
      BOOST_TEST_CONTEXT(zkadmin::name_of(typed)) {
        if (key.does == action::quit) {
          check_end(bytes_of(typed));
        } else {
          check(terminal, key, bytes_of(typed));
        }
      }
    }
  terminal.type("q");
  BOOST_TEST(terminal.exit_code() == 0);
}

BOOST_AUTO_TEST_CASE(the_mouse_is_left_alone_if_that_is_wanted) {
  make_elections();
  pseudo_terminal terminal(io(), 100, 13);
  terminal.start({ZKADMIN_PROGRAM, "--root", root(), "--no-mouse"}, {{"ZKADMIN_HOSTS", hosts}});
  BOOST_TEST(terminal.shows("ELECTIONS 20"));
  BOOST_TEST(!terminal.screen().takes_mouse());
  pseudo_terminal with(io(), 100, 13);
  with.start({ZKADMIN_PROGRAM, "--root", root()}, {{"ZKADMIN_HOSTS", hosts}});
  BOOST_TEST(with.shows("ELECTIONS 20"));
  BOOST_TEST(with.screen().takes_mouse());
  for (auto* each : {&terminal, &with}) {
    each->type("q");
    BOOST_TEST(each->exit_code() == 0);
  }
  BOOST_TEST(with.wait_until([&] { return !with.screen().takes_mouse(); }));
}

BOOST_AUTO_TEST_SUITE_END()
