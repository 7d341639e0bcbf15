// When failures are the fault of a shard, of a member, or of what all depend on.
#include "shards/member_health.hpp"
#include "shards/planner.hpp"
#include "shards/shard_quarantine.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace zkrecipes::detail;

namespace {

struct healthy_member : fake_session {
  healthy_member() : health(zk.get_core()->get_scheduler(), options) {
    for (std::uint32_t each = 0; each < 8; ++each) health.add(each);
  }
  void fail(std::uint32_t from, std::uint32_t to) {
    for (auto each = from; each < to; ++each) health.record_failure(each, "the database is away");
  }

  shard_group_options options;
  member_health health;
};

struct returning_member {
  /// Joins, and is looked at; says whether it is on probation.
  bool joins(std::int64_t at_ms, std::int64_t plan = 0) {
    listed_member one;
    one.sequence = ++sequence;
    one.node = "_c_b-member-" + std::to_string(sequence);
    one.record.id = "b";
    one.record.orders.plan = plan;
    one.joined_ms = at_ms;
    members = {one};
    return look(at_ms);
  }
  bool look(std::int64_t at_ms) {
    auto next = never;
    known.look(members, away, lease_clock::time_point(std::chrono::milliseconds(at_ms)), next);
    return members.front().is_on_probation;
  }

  std::int32_t sequence = 0;
  member_returns known{30s};
  std::vector<listed_member> members;
  std::vector<away_record> away;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(shard_strikes)

BOOST_AUTO_TEST_CASE(of_a_member_at_most_one_strike_counts_in_each_calm) {
  term_record record;
  for (std::int64_t at = 1000; at < 30'000; at += 1000) count_owner_failure(record, "a", at, 10s);
  BOOST_TEST(record.deaths == 3);
  BOOST_TEST(record.struck.by == std::vector<std::string>{"a"}, boost::test_tools::per_element());
  BOOST_TEST(failures_needed(record, 3) == 9);
  count_owner_failure(record, "b", 30'500, 10s);
  BOOST_TEST(record.deaths == 4);
  BOOST_TEST(failures_needed(record, 3) == 3);
}

// With a guardian the next owner begins within a second.
BOOST_AUTO_TEST_CASE(a_shard_that_kills_one_member_after_the_other_is_stopped_at_the_third) {
  term_record record;
  for (const auto* each : {"a", "b"}) {
    count_owner_failure(record, each, 1000, 10s);
    BOOST_TEST(record.deaths < failures_needed(record, 3));
  }
  count_owner_failure(record, "c", 1200, 10s);
  BOOST_TEST(record.deaths == failures_needed(record, 3));
}

BOOST_AUTO_TEST_CASE(strikes_at_unknown_times_count) {
  term_record record;
  for (int times = 0; times < 3; ++times) count_owner_failure(record, "a", 0, 10s);
  BOOST_TEST(record.deaths == 3);
  BOOST_TEST(failures_needed(record, 1) == 1);
}

BOOST_AUTO_TEST_CASE(a_record_keeps_its_strikes_and_an_older_version_that_forgets_the_deaths_forgets_them) {
  term_record record;
  record.epoch = 3;
  record.phase = term_phase::retired;
  count_owner_failure(record, "a", 5000, 10s);
  const auto again = parse_record(serialize(record));
  BOOST_TEST_REQUIRE(again.has_value());
  BOOST_TEST(again->struck.at_ms == 5000);
  record.deaths = 0;
  BOOST_TEST(serialize(record).find("struck") == std::string::npos);
  auto old = *again;
  old.unknown_fields.set("struck", json_object().set("at_ms", 5000));
  old.deaths = 0;
  BOOST_TEST(parse_record(serialize(old))->struck.at_ms == 0);
}

BOOST_FIXTURE_TEST_CASE(a_member_lowers_itself_only_when_most_of_its_shards_fail_for_longer_than_a_moment,
                        healthy_member) {
  fail(0, 4);
  advance(20s);
  fail(0, 4);
  BOOST_TEST(!health.is_troubled());
  BOOST_TEST(health.lowered().empty());
  fail(4, 8);
  BOOST_TEST(health.is_troubled());
  advance(2s);
  fail(0, 8);
  BOOST_TEST(health.lowered().empty());
  advance(1s);
  fail(0, 1);
  BOOST_TEST(health.lowered() == "the database is away");
}

BOOST_FIXTURE_TEST_CASE(a_member_on_probation_is_lowered_by_the_next_failure_for_twice_as_long, healthy_member) {
  fail(0, 8);
  advance(3s);
  fail(0, 8);
  const auto first = health.due() - now();
  advance(std::chrono::duration_cast<std::chrono::milliseconds>(first));
  health.look();
  BOOST_TEST(health.lowered().empty());
  fail(0, 1);
  BOOST_TEST(!health.lowered().empty());
  BOOST_TEST((health.due() - now() == 2 * first));
  for (std::uint32_t each = 0; each < 4; ++each) health.on_progress(each);
  BOOST_TEST(health.lowered().empty());
  BOOST_TEST(!health.is_troubled());
}

// Its careers execute for a while, and fail then. Its shards would go to and fro.
BOOST_FIXTURE_TEST_CASE(a_sign_that_was_wrong_ends_no_further_lowering_before_there_is_progress, healthy_member) {
  fail(0, 8);
  advance(3s);
  fail(0, 8);
  health.on_good_sign(2);
  BOOST_TEST(health.lowered().empty());
  fail(3, 4);  // it was begun before
  BOOST_TEST(!health.lowered().empty());
  health.on_good_sign(2);
  BOOST_TEST(health.lowered().empty());
  fail(2, 3);
  health.on_good_sign(2);
  health.on_good_sign(3);
  BOOST_TEST(!health.lowered().empty());
  for (std::uint32_t each = 0; each < 4; ++each) health.on_progress(each);
  BOOST_TEST(health.lowered().empty());
}

BOOST_FIXTURE_TEST_CASE(trouble_does_not_outlive_the_shards_that_failed, healthy_member) {
  fail(0, 5);
  for (std::uint32_t each = 0; each < 5; ++each) health.forget(each);
  BOOST_TEST(!health.is_troubled());
  advance(20s);
  for (std::uint32_t each = 0; each < 2; ++each) health.add(each);
  fail(5, 8);
  BOOST_TEST(health.is_troubled());
  BOOST_TEST(health.lowered().empty());
}

BOOST_FIXTURE_TEST_CASE(a_member_that_comes_back_a_second_time_at_once_is_given_nothing_before_it_has_stayed,
                        returning_member) {
  BOOST_TEST(!joins(1'000));
  BOOST_TEST(!joins(8'000));
  BOOST_TEST(joins(15'000));
  BOOST_TEST(members.front().record.orders.returns == 2);
  BOOST_TEST(look(44'000));
  BOOST_TEST(!look(45'000));
  BOOST_TEST(!joins(90'000));  // it has stayed
  BOOST_TEST(members.front().record.orders.returns == 0);
}

BOOST_FIXTURE_TEST_CASE(an_orderly_restart_is_no_return, returning_member) {
  for (std::int64_t at = 1000; at < 60'000; at += 5000) {
    BOOST_TEST(!joins(at));
    away = {away_record{"b", 1000, 10s, {}, members.front().node}};
    look(at + 1000);
  }
}

BOOST_FIXTURE_TEST_CASE(the_next_planner_reads_how_often_it_was, returning_member) {
  joins(1'000);
  joins(8'000);
  joins(15'000);
  members.front().record.orders.plan = 4;
  known = member_returns(30s);
  BOOST_TEST(look(16'000));
  members.front().record.orders.own.insert(3);  // it has begun a shard, which is not taken from it
  BOOST_TEST(!look(17'000));
}

BOOST_AUTO_TEST_CASE(each_quarantine_in_a_row_lasts_twice_as_long) {
  quarantine_terms terms(10s);
  children_snapshot all;
  child_node first;
  first.name = "0003";
  first.data = serialize(quarantine_record{3, "a", 0});
  first.stat.czxid = 7;
  child_node second = first;
  second.name = "0004";
  second.data = serialize(quarantine_record{3, "a", 1});
  second.stat.czxid = 8;
  all.nodes = {std::make_shared<const child_node>(first), std::make_shared<const child_node>(second)};
  const lease_clock::time_point start(1h);
  auto next = never;
  BOOST_TEST(terms.look(all, start, next).empty());
  BOOST_TEST((next == start + 120s));
  next = never;
  BOOST_TEST_REQUIRE(terms.look(all, start + 120s, next).size() == 1u);
  BOOST_TEST((next == start + 240s));
  BOOST_TEST(terms.look(all, start + 240s, next).size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
