// Each key of the table, on each page and on the details of each.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "samples.hpp"
#include "screen/key_table.hpp"
#include "screen/list_view.hpp"
#include "screen/page_content.hpp"
#include "screen/render.hpp"

using namespace zkadmin;

namespace {

/// A page, as a list or as details.
struct spot {
  page which;
  bool is_details;
};

std::ostream& operator<<(std::ostream& out, const spot& where) {
  return out << title_of(where.which) << (where.is_details ? " details" : "");
}

std::vector<spot> all_spots() {
  std::vector<spot> spots{{page::help, false}};
  for (const auto& each : all_pages()) {
    spots.push_back({each.which, false});
    // The rows of these two lead to the details of other pages.
    if (each.which != page::overview && each.which != page::problems) spots.push_back({each.which, true});
  }
  return spots;
}

/// A screen of few lines, so that every list and every page of details is longer than it.
model at(const spot& where) {
  model state = samples::sick_dashboard();
  update(state, resized{80, 7}, state.now);
  if (where.which == page::help) {
    samples::type(state, U"?");
    return state;
  }
  for (const auto& each : all_pages())
    if (each.which == where.which) samples::type(state, {static_cast<stroke>(*each.digits)});
  if (where.is_details) samples::type(state, {strokes::enter});
  return state;
}

list_state& looked_at(model& state) { return state.lists[static_cast<std::size_t>(state.shown.which)]; }

/// The selected row, or the first line on the screen.
std::size_t position(model& state) { return is_list(state.shown) ? looked_at(state).selected : state.scroll; }

std::size_t last_position(const model& state) {
  model copy = state;
  samples::type(copy, U"G");
  return position(copy);
}

/// Checks a movement by so many lines from the middle of the page.
void check_move(model state, stroke typed, std::ptrdiff_t lines) {
  const auto last = static_cast<std::ptrdiff_t>(last_position(state));
  samples::type(state, {U'j'});
  const auto before = static_cast<std::ptrdiff_t>(position(state));
  samples::type(state, {typed});
  BOOST_TEST(position(state) == static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(before + lines, 0, last)));
}

void check_typing(model state, stroke typed, char kind) {
  const bool is_possible = kind == ':' || is_list(state.shown);
  samples::type(state, {typed});
  BOOST_TEST(state.prompt.has_value() == is_possible);
  if (is_possible) BOOST_TEST(state.prompt->kind == kind);
  if (!is_possible) BOOST_TEST(state.message == "there is no list to filter here");
}

void check_open(model state, const screen_place& before) {
  samples::type(state, {strokes::enter});
  BOOST_TEST((state.shown == before) == !is_list(before));
  if (is_list(before)) BOOST_TEST(!state.shown.item.empty());
}

void check_back(model state, const spot& where) {
  samples::type(state, {strokes::escape});
  const screen_place expected = where.is_details ? screen_place{where.which} : screen_place{page::overview};
  BOOST_TEST((state.shown == expected));
}

void check_order(model state, stroke typed, action does) {
  const bool has_list = is_list(state.shown);
  if (does == action::sort_left) samples::type(state, U">>");
  samples::type(state, {typed});
  const auto& looked = looked_at(state);
  const bool is_changed =
      does == action::invert ? looked.is_inverted : looked.sorted_by == std::optional<std::size_t>(0);
  BOOST_TEST(is_changed == has_list);
}

void check_neighbour(model state, stroke typed, int step) {
  const int present = state.shown.which == page::help ? 0 : static_cast<int>(state.shown.which);
  samples::type(state, {typed});
  BOOST_TEST((state.shown == screen_place{static_cast<page>((present + step + 9) % 9)}));
}

void check_previous(model state, stroke typed) {
  samples::type(state, U":events\r");
  samples::type(state, U":servers\r");
  samples::type(state, {typed});
  BOOST_TEST((state.shown == screen_place{page::events}));
  samples::type(state, {typed});
  BOOST_TEST((state.shown == screen_place{page::servers}));
}

void check_help(model state, stroke typed) {
  const bool was_help = state.shown.which == page::help;
  samples::type(state, {typed});
  BOOST_TEST((state.shown.which == page::help) == !was_help);
}

void check_effect(model state, stroke typed, effect expected) {
  const auto shown = state.shown;
  BOOST_TEST((samples::type(state, {typed}) == expected));
  BOOST_TEST((state.shown == shown));
}

void check_pause(model state, stroke typed) {
  check_effect(state, typed, effect::none);
  samples::type(state, {typed});
  BOOST_TEST(state.paused);
  BOOST_TEST((samples::type(state, {typed}) == effect::refresh));
  BOOST_TEST(!state.paused);
}

void check(const key_binding& key, stroke typed, const spot& where) {
  const model state = at(where);
  const bool has_list = is_list(state.shown);
  const std::ptrdiff_t page = has_list ? 2 : 4;  // Three of the seven lines are taken, and two more by a list.
  switch (key.does) {
    case action::go_to: {
      model moved = state;
      samples::type(moved, {typed});
      BOOST_TEST((moved.shown == screen_place{key.target}));
      break;
    }
    case action::next_page: check_neighbour(state, typed, 1); break;
    case action::last_page: check_neighbour(state, typed, -1); break;
    case action::previous: check_previous(state, typed); break;
    case action::up: check_move(state, typed, -1); break;
    case action::down: check_move(state, typed, 1); break;
    case action::page_up: check_move(state, typed, -page); break;
    case action::page_down: check_move(state, typed, page); break;
    case action::half_up: check_move(state, typed, -page / 2); break;
    case action::half_down: check_move(state, typed, page / 2); break;
    case action::wheel_up: check_move(state, typed, -3); break;
    case action::wheel_down: check_move(state, typed, 3); break;
    case action::first: check_move(state, typed, -100'000); break;
    case action::last: check_move(state, typed, 100'000); break;
    case action::open: check_open(state, state.shown); break;
    case action::back: check_back(state, where); break;
    case action::filter: check_typing(state, typed, '/'); break;
    case action::command: check_typing(state, typed, ':'); break;
    case action::sort_left:
    case action::sort_right:
    case action::invert: check_order(state, typed, key.does); break;
    case action::refresh: check_effect(state, typed, effect::refresh); break;
    case action::pause: check_pause(state, typed); break;
    case action::help: check_help(state, typed); break;
    case action::quit: check_effect(state, typed, effect::quit); break;
    case action::suspend: check_effect(state, typed, effect::none); break;
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(key_table_suite)

BOOST_DATA_TEST_CASE(each_key_does_what_the_table_says, boost::unit_test::data::make(all_spots()), where) {
  for (const auto& key : key_table())
    for (const auto typed : key.typed) BOOST_TEST_CONTEXT(name_of(typed)) check(key, typed, where);
}

BOOST_AUTO_TEST_CASE(no_key_has_two_meanings) {
  std::set<stroke> seen;
  for (const auto& key : key_table())
    for (const auto typed : key.typed) BOOST_TEST(seen.insert(typed).second, name_of(typed));
}

BOOST_AUTO_TEST_CASE(the_help_shows_each_key_and_each_page) {
  model state = samples::dashboard();
  samples::type(state, U"?");
  update(state, resized{120, 80}, state.now);
  const auto text = render(state, 120, 80, {}).to_text();
  for (const auto& key : key_table()) {
    BOOST_TEST(text.find(keys_of(key, "  ")) != text.npos, keys_of(key, "  "));
    BOOST_TEST(text.find(key.what) != text.npos, key.what);
  }
  for (const auto& each : all_pages()) BOOST_TEST(text.find(each.commands) != text.npos, each.commands);
}

BOOST_AUTO_TEST_CASE(the_documentation_has_each_key_and_each_command) {
  std::ifstream file(ZKADMIN_PAGE);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const auto& key : key_table()) {
    const auto row = "| `" + keys_of(key, "` `") + "` | " + key.what + " |";
    BOOST_TEST(text.find(row) != text.npos, row);
  }
  for (const auto& each : all_pages()) {
    std::string names;
    for (const char* c = each.commands; *c != '\0'; ++c) names += *c == ' ' ? "` `" : std::string(1, *c);
    BOOST_TEST(text.find("| `" + names + "` |") != text.npos, names);
  }
}

BOOST_AUTO_TEST_CASE(each_page_has_a_name_on_the_command_line) {
  for (const auto& each : all_pages()) {
    model state = samples::dashboard();
    samples::type(state, U":" + std::u32string(each.commands, each.commands + std::string(each.commands).find(' ')));
    samples::type(state, {strokes::enter});
    BOOST_TEST((state.shown == screen_place{each.which}), each.commands);
  }
}

BOOST_AUTO_TEST_SUITE_END()
