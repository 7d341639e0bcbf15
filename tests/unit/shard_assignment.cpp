// To whom the shards of a member go that has stopped and may come back.
#include "shards/shard_assignment.hpp"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include "planned_group.hpp"
#include "shards/group_planner.hpp"
#include "shards/shard_name.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes::detail;

namespace {

listed_member member_with(const std::string& id, std::int32_t sequence) {
  listed_member one;
  one.node = "_c_" + id + "-member-000000000" + std::to_string(sequence);
  one.sequence = sequence;
  one.record.id = id;
  return one;
}

/// A member of this id has left as this node, and owned shard 2.
away_record mark_of_process(const std::string& id, const std::string& node) {
  away_record note;
  note.id = id;
  note.own.insert(2);
  note.node = node;
  return note;
}

/// Four shards; "a" is there besides.
shard_assignment assign(const listed_member& namesake, const away_record& note) {
  return shard_assignment(4, {member_with("a", 1), namesake}, {note}, {});
}

bool is_kept(const shard_assignment& all) { return all.owners().of[2] == all.members().size() && !all.has_changed(); }

}  // namespace

BOOST_AUTO_TEST_SUITE(shard_assignments)

BOOST_AUTO_TEST_CASE(a_member_that_has_joined_behind_the_note_takes_its_place) {
  const auto all = assign(member_with("b", 5), mark_of_process("b", "_c_0-member-0000000003"));
  BOOST_TEST(all.returned() == std::vector<std::string>{"b"}, boost::test_tools::per_element());
  BOOST_TEST(all.members()[1].record.orders.expect.contains(2));
  BOOST_TEST(all.owners().of[2] == 1u);
}

// The list of members can be older than the note.
BOOST_AUTO_TEST_CASE(the_member_that_has_left_the_note_does_not_take_its_own_place) {
  const auto leaving = member_with("b", 3);
  const auto all = assign(leaving, mark_of_process("b", leaving.node));
  BOOST_TEST(all.returned().empty());
  BOOST_TEST(is_kept(all));
}

// The session of a killed process is not over, and the process after it has come and left.
BOOST_AUTO_TEST_CASE(a_member_that_has_joined_before_the_one_with_the_note_does_not_take_its_place) {
  const auto all = assign(member_with("b", 3), mark_of_process("b", "_c_0-member-0000000005"));
  BOOST_TEST(all.returned().empty());
  BOOST_TEST(is_kept(all));
  const auto request = all.to_plan(1, false);
  BOOST_TEST_REQUIRE(request.members.size() == 3u);
  BOOST_TEST(request.members[2].name == "away b");
  BOOST_TEST(request.members[2].is_away);
}

BOOST_AUTO_TEST_CASE(shards_of_a_member_that_is_away_wait_for_it) {
  const auto all = assign(member_with("c", 5), mark_of_process("b", "_c_0-member-0000000003"));
  BOOST_TEST(all.returned().empty());
  BOOST_TEST(is_kept(all));
}

BOOST_AUTO_TEST_CASE(a_note_that_does_not_say_who_left_it_is_taken_by_any_member_of_the_id) {
  const auto all = assign(member_with("b", 0), mark_of_process("b", ""));
  BOOST_TEST(all.returned() == std::vector<std::string>{"b"}, boost::test_tools::per_element());
  BOOST_TEST(all.members()[1].record.orders.expect.contains(2));
}

BOOST_AUTO_TEST_CASE(an_operator_drains_a_member_unless_there_is_no_other) {
  operator_notes notes;
  notes.add("drain-b", "");
  const shard_assignment two(4, {member_with("a", 1), member_with("b", 2)}, {}, {}, notes);
  BOOST_TEST(two.to_plan(1, false).members[0].capacity == 1000u);
  BOOST_TEST(two.to_plan(1, false).members[1].capacity == 0u);
  const shard_assignment one(4, {member_with("b", 2)}, {}, {}, notes);
  BOOST_TEST(one.to_plan(1, false).members[0].capacity == 1000u);
  auto leaving = member_with("a", 1);
  leaving.record.is_draining = true;
  const shard_assignment rest(4, {leaving, member_with("b", 2)}, {}, {}, notes);
  BOOST_TEST(rest.to_plan(1, false).members[1].capacity == 1000u);
}

// What fails nearly everywhere is not the members' fault, and the others could not bear the load.
BOOST_AUTO_TEST_CASE(members_that_fail_get_nothing_as_long_as_they_are_no_more_than_the_others) {
  auto failing = member_with("b", 2);
  failing.record.failing = "no database";
  const auto capacity_of_b = [&](std::vector<listed_member> all) {
    const shard_assignment plan(4, std::move(all), {}, {});
    return plan.to_plan(1, false).members[1].capacity;
  };
  auto other = member_with("c", 3);
  BOOST_TEST(capacity_of_b({member_with("a", 1), failing}) == 0u);
  BOOST_TEST(capacity_of_b({member_with("a", 1), failing, other}) == 0u);
  other.record.failing = "no database";
  BOOST_TEST(capacity_of_b({member_with("a", 1), failing, other}) == 1000u);
  auto leaving = member_with("a", 1);
  leaving.record.is_draining = true;
  BOOST_TEST(capacity_of_b({leaving, failing}) == 1000u);
}

BOOST_AUTO_TEST_CASE(the_shards_of_a_member_that_comes_back_again_and_again_go_to_others) {
  auto a = member_with("a", 1);
  a.record.orders.plan = 3;
  auto dead = member_with("b", 2);
  dead.record.orders.plan = 3;
  dead.record.orders.own.insert(2);
  auto heir = member_with("b", 5);
  const shard_assignment trusted(4, {a, dead, heir}, {}, {});
  BOOST_TEST(trusted.owners().of[2] == 2u);
  heir.is_on_probation = true;
  shard_assignment others(4, {a, dead, heir}, {}, {});
  BOOST_TEST(others.has_orphans());
  others.apply(plan(others.to_plan(1, false)), {});
  BOOST_TEST(others.owners().of[2] == 0u);
}

// It would give them away at once.
BOOST_AUTO_TEST_CASE(a_member_that_an_operator_drains_does_not_get_its_own_back) {
  operator_notes notes;
  notes.add("drain-b", "");
  const shard_assignment all(4, {member_with("a", 1), member_with("b", 5)},
                             {mark_of_process("b", "_c_0-member-0000000003")}, {}, notes);
  BOOST_TEST(!all.members()[1].record.orders.expect.contains(2));
  BOOST_TEST(all.returned() == std::vector<std::string>{"b"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_pin_is_that_of_the_last_member_of_its_id) {
  operator_notes notes;
  notes.add("pin-0003", write_pin("b"));
  notes.add("pin-0001", write_pin("nobody"));
  notes.add("pin-0009", write_pin("a"));  // there are four
  notes.add("pin-0002", "garbage");
  notes.add("pin-2", write_pin("a"));
  const shard_assignment all(4, {member_with("a", 1), member_with("b", 2), member_with("b", 5)}, {}, {}, notes);
  BOOST_TEST(all.to_plan(1, false).pinned == (std::vector<std::size_t>{nobody, nobody, nobody, 2}),
             boost::test_tools::per_element());
  BOOST_TEST(assign(member_with("b", 5), mark_of_process("b", "")).to_plan(1, false).pinned.empty());
}

BOOST_AUTO_TEST_CASE(ids_are_found_again_in_the_names_of_nodes) {
  for (const char* id : {"orders-3", "a b/c%d", ".", "..", "\xff\x01"}) {
    const auto name = group_layout::file_name(id);
    BOOST_TEST(group_layout::id_of(name).value_or("none") == id);
  }
  for (const char* name : {"%", "%2", "%zz", "%41", "%2f", "."})
    BOOST_TEST(!group_layout::id_of(name).has_value(), name);
}

BOOST_AUTO_TEST_SUITE_END()

// Plans of groups with pinned shards.
BOOST_AUTO_TEST_SUITE(shard_pins)

BOOST_AUTO_TEST_CASE(a_pinned_shard_goes_to_its_member_and_another_comes_back_for_it) {
  planned_group group(9);
  group.join_many(3);
  group.request.owners = {0, 0, 0, 1, 1, 1, 2, 2, 2};
  group.request.pinned.assign(9, nobody);
  group.request.pinned[4] = 2;
  const auto moves = group.move();
  BOOST_REQUIRE(moves.size() == 2u);
  BOOST_TEST((moves[0] == shard_move{4, 1, 2}));
  BOOST_TEST((moves[1] == shard_move{8, 2, 1}));
  BOOST_TEST(group.held() == (shard_counts{3, 3, 3}));
  BOOST_TEST(group.move().empty());
  group.request.pinned[4] = nobody;  // it stays where it is
  BOOST_TEST(group.move().empty());
}

BOOST_AUTO_TEST_CASE(pinned_shards_beyond_a_quota_are_kept_and_the_others_share_the_rest) {
  planned_group group(9);
  group.join_many(3);
  group.move();
  group.request.pinned = {0, 0, 0, 0, 0, nobody, nobody, nobody, nobody};
  group.move();
  BOOST_TEST(group.held() == (shard_counts{5, 2, 2}));
  BOOST_TEST(group.move().empty());
}

BOOST_AUTO_TEST_CASE(pinned_shards_move_first_and_within_the_bound) {
  planned_group group(10);
  group.join_many(2);
  group.request.owners.assign(10, 0);
  group.request.pinned.assign(10, nobody);
  for (std::size_t shard : {1, 2, 3}) group.request.pinned[shard] = 1;
  group.request.max_moves = 2;
  const auto first = group.move();
  BOOST_REQUIRE(first.size() == 2u);
  BOOST_TEST((first[0] == shard_move{1, 0, 1}));
  BOOST_TEST((first[1] == shard_move{2, 0, 1}));
  group.request.moving[3] = true;  // it is on its way to member 0
  const auto second = group.move();
  BOOST_REQUIRE(second.size() == 1u);
  BOOST_TEST((second[0] == shard_move{9, 0, 1}));
}

BOOST_AUTO_TEST_CASE(a_pin_does_not_count_while_its_member_can_not_take_the_shard) {
  planned_group group(6);
  group.join_many(3);
  group.move();
  group.request.pinned.assign(6, nobody);
  group.request.pinned[0] = 1;
  group.member(1).is_away = true;
  BOOST_TEST(group.move().empty());
  group.member(1).is_away = false;
  group.request.frozen = true;
  BOOST_TEST(group.move().empty());
  group.request.frozen = false;
  group.request.quarantined[0] = true;
  group.request.owners[0] = nobody;
  BOOST_TEST(std::ranges::none_of(group.move(), [](const auto& each) { return each.shard == 0; }));
  group.request.quarantined[0] = false;
  group.member(1).capacity = 0;
  BOOST_TEST(std::ranges::all_of(group.move(), [](const auto& each) { return each.to != 1; }));
  BOOST_TEST(group.held()[1] == 0u);
}

BOOST_AUTO_TEST_CASE(a_shard_that_waits_for_its_member_is_not_given_to_another_by_a_pin) {
  planned_group group(4);
  group.join_many(2);
  group.move();
  const auto owner = group.request.owners[0];
  group.request.pinned = {1 - owner, nobody, nobody, nobody};
  group.member(owner).is_away = true;
  BOOST_TEST(group.move().empty());
}

BOOST_AUTO_TEST_SUITE_END()

// Sets of shards and their text.
namespace {

std::vector<std::uint32_t> shards_in(const shard_set& all) { return {all.begin(), all.end()}; }

shard_set shards_of(const std::vector<std::uint32_t>& shards) {
  shard_set made;
  for (auto each : shards) made.insert(each);
  return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shard_sets)

BOOST_AUTO_TEST_CASE(a_text_has_ranges_in_ascending_order) {
  BOOST_TEST(shards_of({}).to_text() == "");
  BOOST_TEST(shards_of({9, 2, 1, 0, 3}).to_text() == "0-3,9");
  BOOST_TEST(shards_of({4, 5}).to_text() == "4-5");
  BOOST_TEST(shards_of({0, 2, 4, 9999}).to_text() == "0,2,4,9999");
  BOOST_TEST(shards_of({9998, 9999}).to_text() == "9998-9999");
}

BOOST_AUTO_TEST_CASE(a_text_is_read) {
  const auto read = shard_set::parse("0-3,9");
  BOOST_REQUIRE(read);
  BOOST_TEST(shards_in(*read) == (std::vector<std::uint32_t>{0, 1, 2, 3, 9}));
  BOOST_TEST(shard_set::parse("")->empty());
  BOOST_TEST(shard_set::parse("0-9999")->size() == 10'000u);
}

BOOST_AUTO_TEST_CASE(other_spellings_of_a_set_are_read) {
  BOOST_TEST(shard_set::parse("0,1,2-3")->to_text() == "0-3");
  BOOST_TEST(shard_set::parse("7-7")->to_text() == "7");
  BOOST_TEST(shard_set::parse("0007")->to_text() == "7");
}

BOOST_AUTO_TEST_CASE(what_is_no_set_of_shards_is_refused) {
  for (const auto* each :
       {"3,1", "3-1", "0-3,3", "0-3,2-5", "1,1", "10000", "0-10000", "00007", "99999999999999999999"})
    BOOST_TEST(!shard_set::parse(each), each);
  for (const auto* each :
       {",", "1,", ",1", "1,,2", "-", "1-", "-1", "1-2-3", " 1", "1 ", "1, 2", "+1", "a", "0x1", "1.5"})
    BOOST_TEST(!shard_set::parse(each), each);
  BOOST_TEST(!shard_set::parse(std::string_view("1\0", 2)));
}

BOOST_AUTO_TEST_CASE(shards_are_added_and_removed) {
  auto all = shards_of({5, 3, 5});
  BOOST_TEST(all.size() == 2u);
  BOOST_TEST(all.contains(3));
  all.erase(3);
  all.erase(3);
  BOOST_TEST(!all.contains(3));
  BOOST_TEST(shards_in(all) == std::vector<std::uint32_t>{5});
  BOOST_TEST((all == shards_of({5})));
  BOOST_TEST((all != shards_of({6})));
  all.erase(5);
  BOOST_TEST(all.empty());
}

BOOST_AUTO_TEST_CASE(each_set_is_read_from_its_text) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    shard_set all;
    const auto end = 1 + random() % 40;
    for (auto left = random() % 40; left > 0; --left) all.insert(static_cast<std::uint32_t>(random() % end));
    const auto read = shard_set::parse(all.to_text());
    BOOST_REQUIRE_MESSAGE(read && *read == all, all.to_text());
  }
}

BOOST_AUTO_TEST_SUITE_END()

// The election of planners, as a member of a shard group takes part in it.

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct electing : fake_session {
  struct member {
    explicit member(const group_frame_ptr& group) : changed(group->session->get_scheduler()), planner(group, changed) {}
    condition changed;
    group_planner planner;
  };

  electing() {
    connect();
    auto group = std::make_shared<group_frame>(zk.get_core());
    group->where.root = "/g";
    group->options.id = "me";
    one = std::make_shared<member>(group);
  }

  void start() {
    asio::post(zk.get_core()->strand(), [this] { one->planner.start(one); });
    settle();
  }
  void start_again_if_due() {
    asio::post(zk.get_core()->strand(), [this] { one->planner.start_again_if_due(one); });
    settle();
  }
  void end() {
    launch_detached(zk.get_core()->strand(), one->planner.end());
    settle();
  }
  /// The election can not be used, and is to be tried again.
  void fail_once() {
    start();
    BOOST_TEST_REQUIRE(!last().pending.empty());
    while (!last().pending.empty()) fail(errc::no_auth);
    BOOST_TEST_REQUIRE((one->planner.failure() == errc::no_auth));
    start_again_if_due();
    BOOST_TEST(last().pending.empty(), "not at once");
    BOOST_TEST_REQUIRE((one->planner.due() > now() && one->planner.due() != never));
  }

  std::shared_ptr<member> one;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(group_planners, electing)

BOOST_AUTO_TEST_CASE(behind_a_failure_the_election_is_tried_again_after_a_pause) {
  fail_once();
  advance(one->planner.due() - now());
  start_again_if_due();
  BOOST_TEST(!last().pending.empty());
  BOOST_TEST(!one->planner.failure());
  BOOST_TEST((one->planner.due() == never));
}

// A member that waits until a time that is over does not wait at all, and keeps the session's thread.
BOOST_AUTO_TEST_CASE(the_next_run_does_not_wait_for_a_pause_of_the_run_before) {
  fail_once();
  end();
  start();
  BOOST_TEST(!one->planner.failure());
  BOOST_TEST((one->planner.due() == never));
}

BOOST_AUTO_TEST_SUITE_END()
