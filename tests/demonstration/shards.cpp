// The audit of the demonstration with a shard group finds what went wrong.
#include <algorithm>

#include <boost/test/unit_test.hpp>

#include "demonstration/audit.hpp"
#include "demonstration/fault_plan.hpp"
#include "demonstration/phases.hpp"
#include "demonstration/report.hpp"
#include "demonstration/summary.hpp"
#include "demonstration/workload.hpp"

using namespace demo;

namespace {

using zkrecipes::message_order;

/// 100 messages of ten keys in four shards.
workload some_work() { return workload({.messages = 100, .keys = 10, .shards = 4}); }

std::vector<result> all_results(const workload& work) {
  std::vector<result> all;
  for (std::uint64_t i = 1; i <= work.messages(); ++i) all.push_back({1, "a", i, 0, work.shard(i)});
  return all;
}

audit check_all(const std::vector<result>& results, message_order order = message_order::by_key) {
  return check(results, {}, some_work(), order);
}

/// The first message of another shard than the first message.
std::size_t other_shard(const std::vector<result>& all) {
  const auto found = std::ranges::find_if(all, [&](const result& each) { return each.shard != all[0].shard; });
  BOOST_TEST_REQUIRE((found != all.end()));
  return static_cast<std::size_t>(found - all.begin());
}

/// Marks with times that grow.
class diary {
 public:
  diary& begins(std::string who, std::uint32_t shard, std::int64_t epoch, std::string phase = "inaugurate") {
    marks.push_back({next_time(), std::move(who), epoch, std::move(phase), true, shard});
    return *this;
  }
  diary& ends(std::string who, std::uint32_t shard, std::int64_t epoch, std::string phase) {
    marks.push_back({next_time(), std::move(who), epoch, std::move(phase), false, shard});
    return *this;
  }
  diary& tells(std::string who, std::string what) {
    marks.push_back({next_time(), std::move(who), 0, std::move(what), false});
    return *this;
  }

  std::vector<phase_mark> marks;

 private:
  std::int64_t next_time() const { return static_cast<std::int64_t>(marks.size()) + 1; }
};

int count(const std::vector<fault>& plan, fault_kind kind) {
  return static_cast<int>(std::ranges::count(plan, kind, &fault::kind));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(demonstration_shards)

BOOST_AUTO_TEST_CASE(shards_have_epochs_and_orders_of_their_own) {
  auto all = all_results(some_work());
  all[other_shard(all)].epoch = 7;
  const auto late = all[other_shard(all)].shard;
  for (auto& each : all) {
    if (each.shard == late) each.epoch = 7;
  }
  BOOST_TEST(check_all(all).clean());
  BOOST_TEST(check_all(all, message_order::strict).clean());
  std::swap(all[other_shard(all) - 1], all[other_shard(all)]);
  BOOST_TEST(check_all(all, message_order::strict).clean(), "shards have no order among each other");
  all.back().epoch = 0;
  BOOST_TEST(check_all(all).overlapping_terms == 1u);
}

BOOST_AUTO_TEST_CASE(an_effect_in_a_shard_that_is_not_its_own_is_unexpected) {
  auto all = all_results(some_work());
  all[0].shard = (all[0].shard + 1) % 4;
  const auto found = check_all(all);
  BOOST_TEST(found.unexpected == 1u);
  BOOST_TEST(found.lost == 1u);
}

BOOST_AUTO_TEST_CASE(owners_of_the_same_shard_overlap_and_those_of_others_do_not) {
  diary book;
  book.begins("a", 1, 1, "execute").begins("b", 2, 5, "execute");
  BOOST_TEST(count_overlaps(book.marks) == 0u);
  book.begins("b", 1, 2);
  BOOST_TEST(count_overlaps(book.marks) == 1u);
}

BOOST_AUTO_TEST_CASE(a_process_that_was_killed_has_no_shard_any_more) {
  diary book;
  book.begins("a", 1, 1, "execute").begins("a", 2, 1, "execute").tells("a", silenced);
  book.begins("b", 1, 2).begins("b", 2, 2);
  BOOST_TEST(count_overlaps(book.marks) == 0u);
}

BOOST_AUTO_TEST_CASE(other_notes_end_no_phase) {
  diary book;
  book.begins("a", 1, 1, "execute").tells("a", cut).tells("a", leaves).begins("b", 1, 2);
  BOOST_TEST(count_overlaps(book.marks) == 1u);
}

BOOST_AUTO_TEST_CASE(the_planner_may_move_the_share_of_each_that_joins) {
  diary book;
  for (std::uint32_t i = 0; i < 4; ++i) book.begins("a", i, 1);
  for (std::uint32_t i : {0u, 1u}) book.ends("a", i, 1, "resigned").begins("b", i, 2);
  const auto found = count_moves(book.marks, {2, 2, 1, 1}, {1, 2});
  BOOST_TEST(found.moves == 2u);
  BOOST_TEST(found.rebalanced == 2u);
  BOOST_TEST(found.bound == 2u);
  BOOST_TEST(count_moves(book.marks, {2, 2, 1, 1}, {1}).bound == 0u, "nobody has joined");
}

BOOST_AUTO_TEST_CASE(shards_of_processes_that_die_or_leave_or_pause_may_move) {
  diary book;
  book.begins("a", 0, 1).tells("a", silenced).begins("b", 0, 2);
  book.begins("a", 1, 1).tells("a", leaves).ends("a", 1, 1, "resigned").begins("b", 1, 2);
  book.begins("c", 2, 1).tells("c", cut).ends("c", 2, 1, "lost").begins("b", 2, 2);
  const auto found = count_moves(book.marks, {2, 2, 2}, {1});
  BOOST_TEST(found.moves == 3u);
  BOOST_TEST(found.died == 1u);
  BOOST_TEST(found.left == 1u);
  BOOST_TEST(found.lost == 1u);
  BOOST_TEST(found.bound == 3u);
}

BOOST_AUTO_TEST_CASE(a_term_that_ends_without_a_reason_is_not_explained) {
  diary book;
  book.begins("a", 0, 1).ends("a", 0, 1, "lost").begins("b", 0, 2);
  book.begins("a", 1, 1).ends("a", 1, 1, "failed").begins("b", 1, 2);
  book.begins("a", 2, 1).begins("b", 2, 2);
  book.tells("a", leaves).tells("a", started).begins("a", 3, 1).ends("a", 3, 1, "resigned").begins("b", 3, 2);
  const auto found = count_moves(book.marks, {2, 2, 2, 2}, {1});
  BOOST_TEST(found.unexplained == 3u);
  BOOST_TEST(found.rebalanced == 1u, "it was asked to leave before it was started again");
  BOOST_TEST(found.moves == 4u);
  BOOST_TEST(found.bound == 0u);
}

BOOST_AUTO_TEST_CASE(the_same_process_may_have_a_shard_again) {
  diary book;
  book.begins("a", 0, 1).tells("a", silenced).tells("a", started).begins("a", 0, 2);
  book.tells("a", leaves).ends("a", 0, 2, "resigned").tells("a", started).begins("a", 0, 3);
  const auto found = count_moves(book.marks, {3}, {1});
  BOOST_TEST(found.died == 1u);
  BOOST_TEST(found.left == 1u);
  BOOST_TEST(found.moves == found.bound);
}

BOOST_AUTO_TEST_CASE(a_term_whose_career_was_not_told_counts) {
  diary book;
  book.begins("a", 0, 1).tells("a", silenced).begins("c", 0, 3);
  const auto found = count_moves(book.marks, {3}, {1});
  BOOST_TEST(found.moves == 2u);
  BOOST_TEST(found.unseen == 1u);
  BOOST_TEST(found.bound == 2u);
}

BOOST_AUTO_TEST_CASE(faults_of_owners_come_in_turn) {
  const auto plan = plan_shard_faults({14, 16, 2});
  BOOST_TEST(count(plan, fault_kind::kill) == 9);
  BOOST_TEST(count(plan, fault_kind::kill_planner) == 5);
  for (const auto kind : {fault_kind::pause, fault_kind::restart, fault_kind::drain, fault_kind::cut}) {
    BOOST_TEST(count(plan, kind) == 4);
  }
  int stopped = 0;
  for (const auto& each : plan) {
    BOOST_TEST((each.share > 0 && each.share < 1));
    if (each.kind == fault_kind::kill_server) ++stopped;
    if (each.kind == fault_kind::start_server) --stopped;
    BOOST_TEST((stopped == 0 || stopped == 1));
  }
  BOOST_TEST(std::ranges::is_sorted(plan, {}, &fault::share));
}

BOOST_AUTO_TEST_CASE(incidents_come_in_turn_beside_other_faults) {
  const auto plan = plan_shard_faults({.kills = 3, .incidents = 8});
  BOOST_TEST(count(plan, fault_kind::outage) == 4);
  BOOST_TEST(count(plan, fault_kind::crash_loop) == 2);
  BOOST_TEST(count(plan, fault_kind::restore) == 2);
  BOOST_TEST(plan.size() == 11u);
  BOOST_TEST(std::ranges::is_sorted(plan, {}, &fault::share));
}

BOOST_AUTO_TEST_CASE(success_needs_all_shards_and_few_moves_and_every_fault) {
  shard_summary outcome;
  outcome.planned_server_kills = 0;
  outcome.shards = outcome.owned = 4;
  outcome.moves.moves = outcome.moves.bound = 2;
  outcome.planned_kills = outcome.kills = 2;
  outcome.planned_changes = 4;
  outcome.pauses = outcome.restarts = outcome.drains = outcome.cuts = 1;
  BOOST_TEST(outcome.success());
  BOOST_TEST(to_json(outcome).find("\"success\":true") != std::string::npos);
  BOOST_TEST(to_text(outcome).find("4 of 4 shards owned at the end; 2 moves, at most 2") != std::string::npos);
  for (auto* each : {&outcome.kills, &outcome.cuts}) {
    --*each;
    BOOST_TEST(!outcome.success());
    ++*each;
  }
  --outcome.owned;
  BOOST_TEST(!outcome.success());
  ++outcome.owned;
  ++outcome.moves.moves;
  BOOST_TEST(!outcome.success());
  --outcome.moves.moves;
  outcome.counts.overlapping_phases = 1;
  BOOST_TEST(!outcome.success());
}

BOOST_AUTO_TEST_SUITE_END()
