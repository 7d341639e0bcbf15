// Lists: filters, order, selection; and what is typed on the last line.
#include <boost/test/unit_test.hpp>

#include "samples.hpp"
#include "screen/list_view.hpp"
#include "screen/render.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;

namespace {

std::string drawn(const model& state, int width = 100) { return render(state, width, 30, {}).to_text(); }

bool draws(const model& state, const std::string& text) { return drawn(state).find(text) != std::string::npos; }

std::vector<std::string> ids(const model& state) {
  std::vector<std::string> found;
  for (const auto& each : list_of(state, state.shown.which).keys) found.push_back(each.id);
  return found;
}

void see_topic(model& state, std::vector<topic_group_status> groups) {
  topic_survey seen;
  seen.found = {topic_status{"/mail", 4, {}, std::move(groups)}};
  update(state, topics_seen{seen}, state.now);
}

model with_topics() {
  model state = samples::dashboard();
  see_topic(
      state,
      {{"a", {topic_shard_status{0, 1, 9, 1s}}, 0}, {"b", {topic_shard_status{0, 1, 100, 61s}}, 0}, {"c", {}, 3}});
  samples::type(state, U"5");
  return state;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lists)

BOOST_AUTO_TEST_CASE(filters) {
  BOOST_TEST(passes("/Billing consumer", ""));
  BOOST_TEST(passes("/Billing consumer", "billing"));
  BOOST_TEST(passes("/Billing consumer", "Billing"));
  BOOST_TEST(!passes("/billing consumer", "Billing"));
  BOOST_TEST(!passes("/mail", "billing"));
  BOOST_TEST(passes("/mail", "!billing"));
  BOOST_TEST(!passes("/mail", "!mail"));
  BOOST_TEST(passes("/mail", "!"));
}

BOOST_AUTO_TEST_CASE(a_filter_follows_each_character_and_is_counted) {
  model state = samples::sick_dashboard();
  samples::type(state, U"3/dea");
  BOOST_TEST(draws(state, "ELECTIONS 2 of 9 /dea"));
  BOOST_TEST(draws(state, " /dea_"));
  samples::type(state, U"d");
  BOOST_TEST((ids(state) == std::vector<std::string>{"/dead"}));
  samples::type(state, {strokes::backspace});
  BOOST_TEST(ids(state).size() == 2u);
  samples::type(state, U"\r");
  BOOST_TEST(!state.prompt);
  BOOST_TEST(draws(state, "ELECTIONS 2 of 9 /dea"));
  samples::type(state, {strokes::escape});
  BOOST_TEST(draws(state, "ELECTIONS 9"));
  BOOST_TEST((state.shown == screen_place{page::elections}));
  samples::type(state, {strokes::escape});
  BOOST_TEST((state.shown == screen_place{page::overview}));
}

BOOST_AUTO_TEST_CASE(a_filter_that_is_left_by_escape_is_gone) {
  model state = samples::sick_dashboard();
  samples::type(state, U"3/nothing-like-this");
  BOOST_TEST(draws(state, "ELECTIONS 0 of 9"));
  BOOST_TEST(draws(state, "none that the filter selects"));
  samples::type(state, {strokes::escape});
  BOOST_TEST(ids(state).size() == 9u);
  samples::type(state, U"/x");
  samples::type(state, {strokes::control('u')});
  BOOST_TEST(ids(state).size() == 9u);
  samples::type(state, {strokes::backspace});
  BOOST_TEST(!state.prompt);
}

BOOST_AUTO_TEST_CASE(letters_of_commands_are_text_in_a_filter) {
  model state = samples::sick_dashboard();
  BOOST_TEST((samples::type(state, U"3/q") == effect::none));
  BOOST_TEST(state.prompt->text == "q");
  BOOST_TEST((samples::type(state, {strokes::control('c')}) == effect::quit));
}

BOOST_AUTO_TEST_CASE(figures_are_sorted_from_the_largest) {
  model state = with_topics();
  samples::type(state, U">>>");
  BOOST_TEST(draws(state, "TOPICS 3 by LAG"));
  BOOST_TEST((ids(state) == std::vector<std::string>{"/mail b", "/mail a", "/mail c"}));
  samples::type(state, U"I");
  BOOST_TEST(draws(state, "by LAG inverted"));
  BOOST_TEST((ids(state) == std::vector<std::string>{"/mail c", "/mail a", "/mail b"}));
  samples::type(state, U"I>");
  BOOST_TEST(draws(state, "by OLDEST"));
  BOOST_TEST((ids(state) == std::vector<std::string>{"/mail b", "/mail a", "/mail c"}));
  samples::type(state, std::u32string(20, U'>'));
  BOOST_TEST(draws(state, "by SHARDS"));
  samples::type(state, std::u32string(20, U'<'));
  BOOST_TEST(draws(state, "TOPICS 3 ─"));
}

BOOST_AUTO_TEST_CASE(texts_are_sorted_from_a) {
  model state = with_topics();
  samples::type(state, U">>I");
  BOOST_TEST(draws(state, "by GROUP inverted"));
  BOOST_TEST((ids(state) == std::vector<std::string>{"/mail c", "/mail b", "/mail a"}));
}

BOOST_AUTO_TEST_CASE(the_selection_of_each_page_follows_its_row) {
  model state = with_topics();
  samples::type(state, U"j3j5");
  see_topic(state, {{"a", {}, 0}, {"aa", {}, 0}, {"b", {}, 0}});
  BOOST_TEST(list_of(state, page::topics).keys[state.lists[static_cast<std::size_t>(page::topics)].selected].id ==
             "/mail b");
}

BOOST_AUTO_TEST_CASE(new_events_do_not_move_the_first_row_and_leave_another_one_in_place) {
  model state = samples::dashboard();
  samples::type(state, U"8");
  const auto add_event = [&state](int epoch) {
    auto elections = samples::elections();
    elections[0].epoch = epoch;
    update(state, elections_seen{{elections}}, state.now);
  };
  const auto& looked = state.lists[static_cast<std::size_t>(page::events)];
  add_event(100);
  BOOST_TEST(looked.selected == 0u);
  samples::type(state, U"j");
  const auto id = looked.id;
  add_event(101);
  BOOST_TEST(looked.selected == 2u);
  BOOST_TEST(looked.id == id);
}

BOOST_AUTO_TEST_CASE(problems_lead_to_what_has_them) {
  model state = samples::sick_dashboard();
  samples::type(state, U"2/transactions-in\r\r");
  BOOST_TEST((state.shown == screen_place{page::commits, "/payments"}));
  samples::type(state, {strokes::escape});
  BOOST_TEST((state.shown == screen_place{page::problems}));
  samples::type(state, {strokes::escape});
  samples::type(state, U"/old-messages\r\r");
  BOOST_TEST((state.shown.which == page::topics || state.shown.which == page::recipes));
}

BOOST_AUTO_TEST_CASE(every_problem_has_a_row_and_the_title_counts_them) {
  model state = samples::sick_dashboard();
  const auto judged = judge(samples::sick(), samples::all_kinds, {});
  samples::type(state, U"2");
  BOOST_TEST(ids(state).size() == judged.problems.size() + judged.unknown.size());
  std::size_t critical = 0;
  for (const auto& each : judged.problems) critical += each.how_bad == severity::critical ? 1 : 0;
  BOOST_TEST(draws(state, std::to_string(critical) + " critical, " + std::to_string(judged.problems.size() - critical) +
                              " warnings"));
}

BOOST_AUTO_TEST_CASE(what_was_not_read_yet_is_not_none) {
  model state = samples::dashboard();
  for (const char32_t digit : U"457") {
    if (digit == 0) break;
    samples::type(state, {digit});
    BOOST_TEST(draws(state, "not known yet"), title_of(state.shown.which));
    BOOST_TEST(!draws(state, "none"), title_of(state.shown.which));
  }
  BOOST_TEST(draws(state, "not all known"));
  update(state, topics_seen{}, state.now);
  samples::type(state, U"5");
  BOOST_TEST(draws(state, "TOPICS 0"));
  BOOST_TEST(draws(state, "none"));
}

BOOST_AUTO_TEST_CASE(what_a_survey_left_out_is_told) {
  model state = samples::dashboard();
  topic_survey part;
  part.complete = false;
  part.notes = {survey_note{"/closed", "may not be read"}};
  update(state, topics_seen{part}, state.now);
  samples::type(state, U"5");
  BOOST_TEST(draws(state, "/closed: may not be read"));
  samples::type(state, U"2");
  BOOST_TEST(draws(state, "unknown"));
}

BOOST_AUTO_TEST_CASE(problems_of_all_kinds_become_events) {
  model state = samples::dashboard();
  update(state, queues_seen{}, state.now);
  state.kinds.queues = true;
  queue_survey full;
  full.found = {queue_status{"/jobs", 12, 0, 0, 3, 6min}};
  update(state, queues_seen{full}, state.now);
  samples::type(state, U"8");
  BOOST_TEST(draws(state, "/jobs: dead letters: 3"));
  update(state, queues_seen{}, state.now);
  BOOST_TEST(draws(state, "/jobs: dead-letters is over"));
}

BOOST_AUTO_TEST_CASE(commands) {
  model state = samples::sick_dashboard();
  samples::type(state, U":tx\r");
  BOOST_TEST((state.shown == screen_place{page::commits}));
  samples::type(state, U":/orders\r");
  BOOST_TEST((state.shown == screen_place{page::groups, "/orders"}));
  samples::type(state, U":/nowhere\r");
  BOOST_TEST(draws(state, "nothing is known at /nowhere"));
  samples::type(state, U"j");
  BOOST_TEST(!draws(state, "nothing is known at /nowhere"));
  samples::type(state, U":nonesuch\r");
  BOOST_TEST(draws(state, "unknown command: nonesuch"));
  samples::type(state, U":\r");
  BOOST_TEST(state.message == "");
  BOOST_TEST((samples::type(state, U":q\r") == effect::quit));
}

BOOST_AUTO_TEST_CASE(details_of_what_has_gone_are_left) {
  model state = samples::sick_dashboard();
  samples::type(state, U"4\r");
  BOOST_TEST((state.shown == screen_place{page::groups, "/orders"}));
  update(state, groups_seen{}, state.now);
  BOOST_TEST((state.shown == screen_place{page::groups}));
  BOOST_TEST(draws(state, "/orders is gone"));
}

BOOST_AUTO_TEST_CASE(long_names_are_cut_in_the_middle_and_whole_in_the_details) {
  model state = samples::dashboard();
  const std::string path = "/" + std::string(60, 'a') + "/" + std::string(60, 'b') + "/the-end";
  auto elections = samples::elections();
  elections[0].path = path;
  elections[0].leader->id = std::string(120, 'x') + "y";
  update(state, elections_seen{{elections}}, state.now);
  samples::type(state, U"3/bbb\r");
  for (const int width : {40, 60, 80, 100, 200}) {
    const auto text = drawn(state, width);
    BOOST_TEST(text.find("the-end") != text.npos, text);
  }
  BOOST_TEST(drawn(state, 40).find("aaa…") != std::string::npos);
  samples::type(state, U"\r");
  for (const int width : {20, 40, 80, 200}) {
    update(state, resized{width, 80}, state.now);
    std::string whole;
    for (const char each : render(state, width, 80, {}).to_text())
      if (each != ' ' && each != '\n') whole += each;
    BOOST_TEST(whole.find(path) != whole.npos, whole);
    BOOST_TEST(whole.find(std::string(120, 'x') + "y") != whole.npos, whole);
  }
}

BOOST_AUTO_TEST_CASE(every_width_shows_names_and_the_selected_row) {
  model state = samples::sick_dashboard();
  for (const auto& each : all_pages()) {
    samples::type(state, {static_cast<stroke>(*each.digits)});
    for (int width = 40; width <= 200; width += 10) {
      update(state, resized{width, 24}, state.now);
      BOOST_TEST(render(state, width, 24, {}).to_text().find("▸ ") != std::string::npos, each.title << " " << width);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
