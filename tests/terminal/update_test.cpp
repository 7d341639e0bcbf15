// What keys and answers do.
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
using namespace std::chrono_literals;

// Each key of the table, on each page and on the details of each.

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

// How keys and answers change the dashboard.

namespace {

effect press(model& state, stroke typed) { return update(state, key_pressed{typed}, state.now); }

std::size_t selected(const model& state) { return state.lists[static_cast<std::size_t>(state.shown.which)].selected; }

const std::vector<election_status>& shown_elections(const model& state) { return state.seen.elections->found; }

void see(model& state, std::vector<election_status> elections) {
  update(state, elections_seen{{std::move(elections)}}, state.now + 1s);
}

std::string screen(const model& state) { return render(state, 80, 24, {}).to_text(); }

bool shows(const model& state, const std::string& text) { return screen(state).find(text) != std::string::npos; }

std::vector<election_status> with_waiters(int count) {
  auto elections = samples::elections();
  elections[0].waiters.clear();
  for (int i = 1; i <= count; ++i) elections[0].waiters.push_back({"waiter-" + std::to_string(i), i, i, i, "node"});
  return elections;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(keys)

BOOST_AUTO_TEST_CASE(up_and_down_stay_in_the_list) {
  model state = samples::dashboard();
  press(state, U'k');
  BOOST_TEST(selected(state) == 0u);
  press(state, U'j');
  BOOST_TEST(selected(state) == 1u);
  for (int i = 0; i < 9; ++i) press(state, U'j');
  BOOST_TEST(selected(state) == 2u);
  press(state, U'g');
  BOOST_TEST(selected(state) == 0u);
  press(state, U'G');
  BOOST_TEST(selected(state) == 2u);
  press(state, U'k');
  BOOST_TEST(selected(state) == 1u);
  BOOST_TEST(shows(state, "▸ /billing/consumer"));
}

BOOST_AUTO_TEST_CASE(nothing_to_select_or_open) {
  model state;
  for (const auto each : {U'k', U'j', U'G', U'g', strokes::enter}) press(state, each);
  BOOST_TEST(selected(state) == 0u);
  BOOST_TEST((state.shown == screen_place{}));
}

BOOST_AUTO_TEST_CASE(details_and_back) {
  model state = samples::dashboard();
  press(state, U'j');
  press(state, strokes::enter);
  BOOST_TEST(shows(state, "ELECTION /billing/consumer"));
  BOOST_TEST(shows(state, "1  worker-2"));
  press(state, strokes::escape);
  BOOST_TEST(shows(state, "ENSEMBLE"));
}

BOOST_AUTO_TEST_CASE(details_scroll_to_the_last_waiter_and_no_further) {
  model state = samples::dashboard();
  see(state, with_waiters(50));
  press(state, U'j');
  press(state, strokes::enter);
  BOOST_TEST(!shows(state, "waiter-50"));
  press(state, U'G');
  BOOST_TEST(shows(state, "waiter-50"));
  const auto end = state.scroll;
  press(state, U'j');
  BOOST_TEST(state.scroll == end);
  press(state, U'k');
  BOOST_TEST(state.scroll == end - 1);
  press(state, U'g');
  BOOST_TEST(state.scroll == 0u);
  press(state, U'k');
  BOOST_TEST(state.scroll == 0u);
}

BOOST_AUTO_TEST_CASE(a_page_that_becomes_shorter_is_not_left_scrolled) {
  model state = samples::dashboard();
  see(state, with_waiters(50));
  press(state, U'j');
  press(state, strokes::enter);
  press(state, U'G');
  see(state, with_waiters(2));
  BOOST_TEST(state.scroll == 0u);
  see(state, with_waiters(50));
  press(state, U'G');
  update(state, resized{80, 500}, state.now);
  BOOST_TEST(state.scroll == 0u);
}

BOOST_AUTO_TEST_CASE(help_and_back) {
  model state = samples::dashboard();
  press(state, U'?');
  BOOST_TEST(shows(state, "KEYS"));
  press(state, U'?');
  BOOST_TEST(shows(state, "ENSEMBLE"));
  press(state, U'?');
  press(state, strokes::escape);
  BOOST_TEST(shows(state, "ENSEMBLE"));
}

BOOST_AUTO_TEST_CASE(quit_from_every_page) {
  for (const auto which : {U'x', strokes::enter, U'?'}) {
    model state = samples::dashboard();
    BOOST_TEST((press(state, which) == effect::none));
    BOOST_TEST((press(state, U'q') == effect::quit));
  }
}

BOOST_AUTO_TEST_CASE(refresh_and_pause) {
  model state = samples::dashboard();
  BOOST_TEST((press(state, U'R') == effect::refresh));
  BOOST_TEST((press(state, U'Z') == effect::none));
  BOOST_TEST(shows(state, "PAUSED"));
  BOOST_TEST((press(state, U'R') == effect::refresh));
  BOOST_TEST((press(state, U'Z') == effect::refresh));
  BOOST_TEST(!shows(state, "PAUSED"));
}

BOOST_AUTO_TEST_CASE(the_selection_follows_its_path) {
  model state = samples::dashboard();
  press(state, U'G');
  auto elections = samples::elections();
  auto first = elections[0];
  first.path = "/aaa";
  elections.insert(elections.begin(), first);
  see(state, elections);
  BOOST_TEST(shown_elections(state)[selected(state)].path == "/mail/sender");
}

BOOST_AUTO_TEST_CASE(an_election_that_goes_closes_its_details) {
  model state = samples::dashboard();
  press(state, U'G');
  press(state, strokes::enter);
  auto elections = samples::elections();
  elections.erase(elections.begin() + 1);  // /mail/sender, shown last because /other with its problem comes first
  see(state, elections);
  BOOST_TEST((state.shown == screen_place{}));
  BOOST_TEST(selected(state) == 1u);
  see(state, {});
  BOOST_TEST(selected(state) == 0u);
  BOOST_TEST(shows(state, "ELECTIONS 0"));
}

BOOST_AUTO_TEST_CASE(old_data_stays_and_says_how_old_it_is) {
  model state = samples::dashboard();
  const auto seen = state.surveyed_at;
  update(state, elections_failed{"no connection"}, seen + 3s);
  BOOST_TEST(shows(state, "stale 3 s: no connection"));
  BOOST_TEST(shows(state, "/billing/consumer"));
  update(state, time_passed{}, seen + 65s);
  BOOST_TEST(shows(state, "stale 65 s: no connection"));
  see(state, samples::elections());
  BOOST_TEST(!shows(state, "stale"));
}

BOOST_AUTO_TEST_CASE(a_first_failure_is_no_old_data) {
  model state;
  BOOST_TEST(shows(state, "looking for elections"));
  update(state, elections_failed{"no connection"}, samples::noon());
  BOOST_TEST(shows(state, "no connection"));
  BOOST_TEST(!shows(state, "stale"));
}

BOOST_AUTO_TEST_CASE(events_are_bounded_and_newest_first) {
  model state = samples::dashboard();
  for (int i = 0; i < 11; ++i) {
    std::vector<election_status> elections(1'000, samples::elections()[0]);
    for (std::size_t k = 0; k < elections.size(); ++k) elections[k].path = std::to_string(i) + "/" + std::to_string(k);
    see(state, elections);
  }
  BOOST_TEST(state.events.size() == 10'000u);
  BOOST_TEST(state.events.front().text == "9/999: the election is gone");
  BOOST_TEST(state.events.front().number > 20'000u);
}

BOOST_AUTO_TEST_CASE(problems_come_first_and_are_counted) {
  model state = samples::dashboard();
  auto elections = samples::elections();
  const auto more = samples::troubles();
  elections.insert(elections.end(), more.begin(), more.end());
  see(state, elections);
  const auto& shown = shown_elections(state);
  BOOST_TEST(shown[0].path == "/orders/consumer");  // critical
  BOOST_TEST(shown[1].path == "/other");
  BOOST_TEST(shown[2].path == "/secret");
  BOOST_TEST(shown[3].path == "/billing/consumer");
  BOOST_TEST(shows(state, "3 with a problem"));
  BOOST_TEST(shows(state, "executing     nobody in line"));
}

BOOST_AUTO_TEST_CASE(a_request_that_is_not_heeded_grows_old_on_the_screen) {
  model state = samples::dashboard();
  see(state, samples::troubles());
  BOOST_TEST(shows(state, "resignation: worker-1 was asked 9.0 s ago"));
  press(state, U'G');
  press(state, strokes::enter);
  BOOST_TEST(shows(state, "resignation: worker-1 was asked 9.0 s ago"));
}

BOOST_AUTO_TEST_CASE(before_the_first_answer_nothing_is_counted) {
  model state;
  BOOST_TEST(shows(state, "not known yet"));
  BOOST_TEST(!shows(state, "ELECTIONS 0"));
  see(state, {});
  BOOST_TEST(shows(state, "ELECTIONS 0"));
  BOOST_TEST(shows(state, "none"));
}

BOOST_AUTO_TEST_CASE(times_of_day_are_local) {
  model state = samples::dashboard();
  state.utc_offset = -5h;
  BOOST_TEST(shows(state, "07:00:00"));
  state.utc_offset = 13h;
  BOOST_TEST(shows(state, "01:00:00"));
}

BOOST_AUTO_TEST_CASE(a_list_is_made_once_until_its_data_changes) {
  model state = samples::dashboard();
  const auto before = state.kept;
  update(state, servers_seen{samples::servers()}, state.now + 1s);
  update(state, elections_confirmed{}, state.now + 1s);
  update(state, time_passed{}, state.now + 1s);
  BOOST_TEST(state.kept == before);
  see(state, with_waiters(3));
  BOOST_TEST(state.kept != before);
}

BOOST_AUTO_TEST_CASE(old_data_is_current_again_when_it_is_confirmed) {
  model state = samples::dashboard();
  update(state, elections_failed{"no connection"}, state.now + 5s);
  BOOST_TEST(shows(state, "stale 6 s: no connection"));
  update(state, time_passed{}, state.now + 1s);
  BOOST_TEST(shows(state, "stale 7 s: no connection"));
  update(state, elections_confirmed{}, state.now);
  BOOST_TEST(!shows(state, "stale"));
}

BOOST_AUTO_TEST_CASE(a_state_between_two_surveys_is_told) {
  model state = samples::dashboard();
  auto passed = samples::elections()[0];
  passed.epoch = 77;
  update(state, election_passed{passed.path, passed}, state.now);
  BOOST_TEST(state.events.front().text.find("term 77 began") != std::string::npos);
  update(state, election_passed{passed.path, std::nullopt}, state.now);
  BOOST_TEST(state.events.front().text == passed.path + ": the election is gone");
  update(state, election_passed{passed.path, passed}, state.now);
  BOOST_TEST(state.events.front().text == passed.path + ": new election");
}

BOOST_AUTO_TEST_SUITE_END()
