// The audit of the balanced demonstration finds tracks that were too far apart, and blames nobody wrongly.
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "demonstration/balance_summary.hpp"
#include "demonstration/report.hpp"
#include "demonstration/spread_audit.hpp"

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
marks silenced_at(std::int64_t when) { return {{kind::silenced, when, when, 0}}; }
marks cut_at(std::int64_t when) { return {{kind::cut, when, when, 0}}; }

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

BOOST_AUTO_TEST_CASE(a_process_that_was_killed_is_compared_until_then) {
  BOOST_TEST(spread(steps(1, 50, 1000), steps(1, 2, 1000) + silenced_at(1450)) > 40);
  BOOST_TEST(spread(steps(1, 50, 1000), steps(1, 2, 1000) + silenced_at(1100)) < 12);
  BOOST_TEST(spread(steps(1, 50, 1000), steps(1, 2, 1000) + cut_at(1020) + silenced_at(1450)) < 3);
}

BOOST_AUTO_TEST_CASE(one_that_was_moved_forward_begins_anew) {
  const auto rejoined = steps(1, 2, 1000) + silenced_at(1020) + steps(45, 60, 1500);
  BOOST_TEST(spread(steps(1, 80, 1000), rejoined) < 12);
  const auto too_far_back = steps(1, 2, 1000) + silenced_at(1020) + steps(10, 30, 1500);
  BOOST_TEST(spread(steps(1, 80, 1000), too_far_back) >= 40);
}

BOOST_AUTO_TEST_CASE(marks_are_read_back_without_a_torn_line) {
  const auto file = std::filesystem::temp_directory_path() / ("zkrecipes-steps-" + std::to_string(::getpid()));
  const auto all = steps(1, 3, 1000) + silenced_at(1500);
  {
    step_log log(file);
    for (const auto& each : all) log.note(each);
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
