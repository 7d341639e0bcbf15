// The audit of the balanced demonstration finds tracks that were too far apart, and blames nobody wrongly.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "demonstration/balance_summary.hpp"
#include "demonstration/report.hpp"

using namespace demo;

namespace {

using kind = step_mark::kind;
using marks = std::vector<step_mark>;

/// Steps to the positions from one to another one, a step in each 10 ns, each of which took 2 ns.
marks steps(std::int64_t from, std::int64_t to, std::int64_t begin_ns) {
  marks all;
  for (auto i = from; i <= to; ++i) {
    const auto at = begin_ns + 10 * (i - from);
    all.push_back({kind::step, at, at + 2, i});
  }
  return all;
}
marks operator+(marks a, const marks& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// It has looked at its lease in between, at this position.
marks live(std::int64_t from, std::int64_t until, std::int64_t position) {
  return {{kind::live, from, until, position}};
}
marks leaves_at(std::int64_t when) { return {{kind::leaving, when, when, 0}}; }
marks begins_at(std::int64_t when) { return {{kind::begins, when, when, 0}}; }

std::int64_t spread(const marks& a, const marks& b) { return measure_spread({{"a", a}, {"b", b}}).max_spread; }

}  // namespace

BOOST_AUTO_TEST_SUITE(demonstration_balances)

BOOST_AUTO_TEST_CASE(the_distance_of_tracks_that_move_is_found) {
  const auto found = measure_spread({{"a", steps(1, 50, 1000)}, {"b", steps(1, 20, 1000) + steps(21, 30, 2000)}});
  BOOST_TEST(found.max_spread == 29);  // a has made 49 at the beginning of its last step, b 20
  BOOST_TEST(found.steps == 80u);
  BOOST_TEST(found.stretches == 2u);
}

BOOST_AUTO_TEST_CASE(a_step_that_is_under_way_is_not_held_against_anybody) {
  const marks waits{{kind::step, 1000, 1002, 1}, {kind::step, 1010, 5000, 2}, {kind::step, 5010, 5012, 3}};
  BOOST_TEST(spread(steps(1, 5, 2000), waits) == 2);  // it may have made its second step long ago
}

BOOST_AUTO_TEST_CASE(a_track_is_compared_for_as_long_as_its_lease_lasts) {
  const auto slow = steps(1, 2, 1000);
  BOOST_TEST(spread(steps(1, 50, 1000), slow + live(1012, 1450, 2)) > 40);
  BOOST_TEST(spread(steps(1, 50, 1000), slow + live(1012, 1100, 2)) < 12);
  BOOST_TEST(spread(steps(1, 50, 1000), slow) < 3);
  const auto looks_again = slow + live(1012, 1100, 2) + live(1090, 1450, 2);
  BOOST_TEST(spread(steps(1, 50, 1000), looks_again) > 40, "it waits, and has looked again");
  const auto looks_late = slow + live(1012, 1450, 2) + live(1100, 1200, 2);
  BOOST_TEST(spread(steps(1, 50, 1000), looks_late) > 40, "what was known stays known");
}

BOOST_AUTO_TEST_CASE(a_track_that_is_ahead_is_compared_for_as_long_as_its_lease_lasts) {
  const auto fast = steps(1, 50, 1000);
  BOOST_TEST(spread(fast + live(1500, 3000, 50), steps(1, 20, 2000)) > 40);
  BOOST_TEST(spread(fast + live(1500, 1900, 50), steps(1, 20, 2000)) == 0, "the other one has begun behind its lease");
}

BOOST_AUTO_TEST_CASE(a_track_whose_lane_is_worked_off_has_left) {
  const auto done = steps(1, 2, 1000) + live(1012, 2000, 2);
  BOOST_TEST(spread(steps(1, 90, 1000), done + leaves_at(1030)) < 6);
  BOOST_TEST(spread(steps(1, 90, 1000), done + leaves_at(1450)) > 40, "the others were too far ahead before");
  BOOST_TEST(spread(steps(1, 90, 1000), done + leaves_at(1030) + live(1040, 2000, 2)) < 6);
  BOOST_TEST(spread(steps(1, 90, 1000), done + leaves_at(1030) + steps(3, 3, 1050)) < 8, "it was under way");
}

/// It is stopped, woken behind its session, and stopped or killed before it can note anything.
BOOST_AUTO_TEST_CASE(one_that_notices_nothing_any_more_is_not_live_behind_its_lease) {
  const auto stopped = steps(1, 2, 1000) + live(1012, 1100, 2);
  BOOST_TEST(spread(steps(1, 90, 1000), stopped + begins_at(1800)) < 12);
  BOOST_TEST(spread(steps(1, 90, 1000), stopped + begins_at(1800) + steps(80, 85, 1850)) < 12);
}

BOOST_AUTO_TEST_CASE(one_that_sleeps_over_its_last_step_is_not_live_behind_its_lease) {
  const marks sleeps{{kind::step, 1000, 1002, 1}, {kind::live, 1002, 1100, 1}, {kind::step, 1010, 1850, 2}};
  BOOST_TEST(spread(steps(1, 90, 1000), sleeps) < 12);
}

BOOST_AUTO_TEST_CASE(the_servers_keep_the_node_of_a_dead_process_until_its_lease_has_ended) {
  const auto lives = steps(1, 2, 1000) + live(1012, 1600, 2) + begins_at(1100) + steps(41, 60, 1401);
  BOOST_TEST(spread(steps(1, 60, 1000), lives) > 50, "the new track may be near, the old one counts");
  const auto waited_for = steps(1, 2, 1000) + live(1012, 1030, 2) + begins_at(1100) + steps(41, 60, 1401);
  BOOST_TEST(spread(steps(1, 60, 1000), waited_for) < 6);
  const auto goes_on = steps(1, 2, 1000) + live(1012, 1450, 2) + begins_at(1100) + steps(3, 50, 1101);
  BOOST_TEST(measure_spread({{"a", goes_on}}).stretches == 2u, "another life has another track");
}

BOOST_AUTO_TEST_CASE(one_that_was_moved_forward_begins_anew) {
  const auto rejoined = steps(1, 2, 1000) + live(1012, 1020, 2) + steps(45, 60, 1500);
  BOOST_TEST(spread(steps(1, 80, 1000), rejoined) < 12);
  const auto too_far_back = steps(1, 2, 1000) + live(1012, 1020, 2) + steps(10, 30, 1500);
  BOOST_TEST(spread(steps(1, 80, 1000), too_far_back) >= 40);
  const auto not_yet = steps(1, 2, 1000) + live(1012, 1020, 2) + live(1400, 1800, 44);
  BOOST_TEST(spread(steps(1, 80, 1000), not_yet) < 6, "where it was before tells nothing of the new place");
}

BOOST_AUTO_TEST_CASE(marks_are_read_back_without_a_torn_line) {
  const auto file = std::filesystem::temp_directory_path() / ("zkrecipes-steps-" + std::to_string(::getpid()));
  const auto all = begins_at(900) + steps(1, 3, 1000) + live(1022, 1500, 3) + leaves_at(1400);
  {
    step_log log(file);
    for (const auto& each : all) log.record(each);
  }
  std::ofstream(file, std::ios::app) << "0 1600 16";
  BOOST_TEST((read_steps(file) == all));
  std::filesystem::remove(file);
}

BOOST_AUTO_TEST_CASE(a_run_succeeds_only_within_the_range_and_with_all_faults) {
  balance_summary run;
  run.messages = run.processed = 10;
  run.range = 5;
  run.spread.max_spread = 5;
  BOOST_TEST(run.success());
  BOOST_TEST(to_json(run).find("\"max_spread\":5") != std::string::npos);
  auto with = [&](auto change) {
    auto other = run;
    change(other);
    return other.success();
  };
  BOOST_TEST(!with([](auto& each) { each.spread.max_spread = 6; }));
  BOOST_TEST(!with([](auto& each) { each.spread.max_spread = 0; }));  // nothing was compared
  BOOST_TEST(!with([](auto& each) { each.lost = 1; }));
  BOOST_TEST(!with([](auto& each) { each.duplicated = 1; }));
  BOOST_TEST(!with([](auto& each) { each.planned_kills = 1; }));
  BOOST_TEST(!with([](auto& each) { each.planned_pauses = 1; }));
  BOOST_TEST(!with([](auto& each) { each.planned_server_kills = 1; }));
  BOOST_TEST(!with([](auto& each) { each.failed_processes = 1; }));
}

BOOST_AUTO_TEST_SUITE_END()
