// How keys and answers change the dashboard.
#include <boost/test/unit_test.hpp>

#include "samples.hpp"
#include "screen/render.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;

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
