// How a member of a double barrier judges the nodes and the record that it reads.
#include "barrier/round_view.hpp"

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/double_barrier.hpp>

#include "barrier/double_barrier.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes::detail;

namespace {

std::string guid(int number) {
  auto digits = std::to_string(number);
  return "00000000-0000-0000-0000-" + std::string(12 - digits.size(), '0') + digits;
}

std::string node(int member, int size, int sequence) {
  auto digits = std::to_string(sequence);
  return "_c_" + guid(member) + '-' + round_marker(size) + std::string(10 - digits.size(), '0') + digits;
}

round_member whose(int number, std::int32_t place) { return {node(number, 2, place), guid(number), 2, place}; }

round_view see(const round_record& record, std::vector<std::string> names, int size) {
  return interpret(record, 7, members_of(names, round_markers()), size);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(double_barrier_rounds)

BOOST_AUTO_TEST_CASE(a_record_is_read_as_it_was_written) {
  const round_record record{7, {guid(1), guid(2)}, {11, 12}};
  const auto read = parse_round(serialize(record));
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST(read->round == 7);
  BOOST_TEST(read->members == record.members, boost::test_tools::per_element());
  BOOST_TEST(read->places == record.places, boost::test_tools::per_element());
  BOOST_TEST(read->names(whose(2, 12)));
  BOOST_TEST(!read->names(whose(3, 12)));
  BOOST_TEST(!read->names(whose(2, 13)), "another node of the same entry is another member");
  const auto old = parse_round(R"({"zkrecipes":"double_barrier","round":7,"members":[")" + guid(2) + R"("]})");
  BOOST_TEST_REQUIRE(old.has_value());
  BOOST_TEST(old->names(whose(2, 13)), "an older version names no nodes");
  const auto none = parse_round("");
  BOOST_TEST_REQUIRE(none.has_value());
  BOOST_TEST(none->round == 0);
}

BOOST_AUTO_TEST_CASE(other_data_is_no_record) {
  for (const std::string data : {"x", "1", "[]", "{}", R"({"zkrecipes":"term"})", R"({"zkrecipes":"double_barrier"})",
                                 R"({"zkrecipes":"double_barrier","round":"1","members":[]})",
                                 R"({"zkrecipes":"double_barrier","round":-1,"members":[]})",
                                 R"({"zkrecipes":"double_barrier","round":9223372036854775807,"members":[]})",
                                 R"({"zkrecipes":"double_barrier","round":1,"members":[1]})",
                                 R"({"zkrecipes":"double_barrier","round":1,"members":["a"],"places":[]})",
                                 R"({"zkrecipes":"double_barrier","round":1,"members":["a"],"places":["1"]})"}) {
    BOOST_TEST(!parse_round(data).has_value(), data);
  }
}

BOOST_AUTO_TEST_CASE(those_who_wait_stand_in_order_of_arrival) {
  const auto seen = see({}, {node(2, 2, 10), node(1, 2, 9), node(3, 2, 11)}, 2);
  BOOST_TEST(seen.version == 7);
  BOOST_TEST_REQUIRE(seen.waiting.size() == 3u);
  BOOST_TEST(seen.waiting[0].guid == guid(1));
  BOOST_TEST(*seen.position(guid(3)) == 2u);
  BOOST_TEST(!seen.position(guid(4)).has_value());
  BOOST_TEST(seen.can_open(2));
  BOOST_TEST(!see({}, {node(1, 2, 9)}, 2).can_open(2));
}

BOOST_AUTO_TEST_CASE(nothing_opens_while_a_member_of_the_last_round_is_there) {
  const round_record last{3, {guid(5), guid(6)}, {0, 1}};
  const auto seen = see(last, {node(6, 2, 1), node(1, 2, 2), node(2, 2, 3)}, 2);
  BOOST_TEST(seen.inside.size() == 1u);
  BOOST_TEST(seen.waiting.size() == 2u);
  BOOST_TEST(!seen.can_open(2));
  BOOST_TEST(see(last, {node(1, 2, 2), node(2, 2, 3)}, 2).can_open(2), "a record of the dead keeps nobody");
}

BOOST_AUTO_TEST_CASE(a_second_node_is_no_second_member) {
  const auto seen = see({}, {node(1, 2, 1), node(1, 2, 2)}, 2);
  BOOST_TEST(seen.waiting.size() == 1u);
  BOOST_TEST(!seen.can_open(2));
  BOOST_TEST(seen.nodes_of(guid(1)).size() == 2u);
  BOOST_TEST(*seen.position(guid(1)) == 0u);
  BOOST_TEST(seen.waiting[0].place == 2, "the one that was made last");
}

BOOST_AUTO_TEST_CASE(a_node_made_again_takes_no_part_in_the_round_of_the_one_before) {
  const round_record last{3, {guid(1), guid(2)}, {1, 2}};
  const auto seen = see(last, {node(2, 2, 2), node(1, 2, 3)}, 2);
  BOOST_TEST_REQUIRE(seen.inside.size() == 1u);
  BOOST_TEST(seen.inside[0].guid == guid(2));
  BOOST_TEST_REQUIRE(seen.waiting.size() == 1u);
  BOOST_TEST(seen.waiting[0].guid == guid(1));
  const auto shared = std::make_shared<const round_view>(seen);
  BOOST_TEST(still_inside(members_of({node(1, 2, 3)}, round_markers()), shared).empty());
}

BOOST_AUTO_TEST_CASE(a_node_made_again_moves_up_those_behind_the_first_one) {
  const auto seen = see({}, {node(1, 2, 1), node(2, 2, 2), node(3, 2, 3), node(1, 2, 4)}, 2);
  BOOST_TEST(*seen.position(guid(2)) == 0u);
  BOOST_TEST(*seen.position(guid(3)) == 1u);
  BOOST_TEST(*seen.position(guid(1)) == 2u);
}

BOOST_AUTO_TEST_CASE(members_that_see_the_same_share_one_view) {
  const auto line = members_of({node(1, 2, 1), node(2, 2, 2)}, round_markers());
  const auto longer = members_of({node(1, 2, 1), node(2, 2, 2), node(3, 2, 3)}, round_markers());
  double_barrier_state at(nullptr, "/b", 2, "");
  const auto seen = at.view_of({}, 7, line);
  BOOST_TEST(at.view_of({}, 7, line) == seen);
  BOOST_TEST(at.view_of({}, 8, line) != seen);
  const auto later = at.view_of({}, 8, longer);
  BOOST_TEST(later->waiting.size() == 3u);
  BOOST_TEST(at.view_of({1, {guid(1)}, {1}}, 8, longer) != later);
}

BOOST_AUTO_TEST_CASE(a_round_that_was_opened_names_those_who_came_first) {
  const auto next = opened(see({4, {guid(9)}, {0}}, {node(1, 2, 1), node(2, 2, 2), node(3, 2, 3)}, 2), 2);
  BOOST_TEST(next.record.round == 5);
  BOOST_TEST(next.admits(whose(2, 2)));
  BOOST_TEST(!next.admits(whose(3, 3)));
}

BOOST_AUTO_TEST_CASE(who_came_for_another_size_does_not_count) {
  const auto seen = see({}, {node(2, 3, 1), node(1, 2, 2), node(3, 2, 3), node(4, 12, 4)}, 2);
  BOOST_TEST(seen.first_size == 3);
  BOOST_TEST(seen.waiting.size() == 2u);
  BOOST_TEST(see({}, {}, 2).first_size == 0);
}

BOOST_AUTO_TEST_CASE(other_names_are_ignored) {
  const auto number = std::string("0000000001");
  for (const std::string name : {"ready", "_c_short-2-member-0000000001", "lock-0000000001", ""}) {
    BOOST_TEST(see({}, {name}, 2).waiting.empty(), name);
  }
  for (const std::string name : {"--member-", "-x-member-", "-0-member-", "-99999999999999-member-", "-2-lock-"}) {
    BOOST_TEST(see({}, {"_c_" + guid(1) + name + number}, 2).first_size == 0, name);
  }
}

BOOST_AUTO_TEST_CASE(who_is_left_of_a_round_is_told_by_name) {
  const auto line = members_of({node(1, 2, 1), node(2, 2, 2), node(3, 2, 3)}, round_markers());
  for (const auto& places : {std::vector<std::int32_t>{2, 9}, std::vector<std::int32_t>()}) {  // {}: an older version
    const round_record record{1, {guid(2), guid(9)}, places};
    const auto round = std::make_shared<const round_view>(interpret(record, 1, line, 2));
    const auto inside = still_inside(line, round);
    BOOST_TEST_REQUIRE(inside.size() == 1u);
    BOOST_TEST(inside[0]->guid == guid(2));
  }
}

BOOST_AUTO_TEST_SUITE_END()

// The session learns that it has expired only when it reaches a server again. So the end of the lease ends the wait.
BOOST_FIXTURE_TEST_CASE(who_waits_without_a_connection_hears_when_the_lease_is_over, zkrecipes::test::fake_session) {
  using namespace zkrecipes;
  using namespace zkrecipes::test;
  connect();
  double_barrier gate(zk, "/b", 2);
  auto entering = gate.async_enter(begun());
  std::string own;
  while (!last().pending.empty()) {
    const auto asked = last().pending.front().first;
    backend::reply reply;
    if (asked.op == backend::opcode::create) own = reply.path = asked.path + "0000000001";
    if (asked.op == backend::opcode::children) reply.children = {own.substr(3)};
    reply.stat.ephemeral_owner = 0x77;
    answer(std::move(reply));
  }
  BOOST_TEST(!entering.done());
  lose();
  advance(10s);
  BOOST_TEST_REQUIRE(ended_with(entering, errc::lease_lapsed));
}

// The reply to the create was lost, the round was opened with this node, and an operator removed the node. The node
// that is created next is another member.
BOOST_FIXTURE_TEST_CASE(who_was_in_by_a_node_that_has_gone_is_not_in, zkrecipes::test::fake_session) {
  using namespace zkrecipes;
  using namespace zkrecipes::test;
  connect();
  double_barrier gate(zk, "/b", 2);
  auto entering = gate.async_enter(begun());
  const auto own = last().pending.front().first.path.substr(3);
  reconnect();
  CHECK_PENDING("children /b");
  const round_record before{1, {own.substr(3, 36), guid(2)}, {0, 1}};
  bool is_made = false;
  while (!last().pending.empty() && !entering.done()) {
    const auto asked = last().pending.front().first;
    backend::reply reply;
    reply.stat.ephemeral_owner = 0x77;
    if (asked.op == backend::opcode::create) reply.path = asked.path + "0000000002", is_made = true;
    if (asked.op == backend::opcode::get && asked.path == "/b") reply.data = serialize(before);
    if (asked.op == backend::opcode::children) reply.children = {node(2, 2, 1)};
    if (asked.op == backend::opcode::children && is_made) reply.children.push_back(own + "0000000002");
    answer(std::move(reply));
  }
  BOOST_TEST(is_made);
  BOOST_TEST(!entering.done(), "the other one of that round has not left");
}

// The number of the next round must be one that others can read.
BOOST_AUTO_TEST_CASE(no_round_is_opened_after_the_last_one) {
  using namespace zkrecipes;
  using namespace zkrecipes::test;
  for (const auto number : {last_round - 1, last_round}) {
    fake_session it;
    it.connect();
    double_barrier gate(it.zk, "/b", 1);
    diagnostic why;
    auto entering = gate.async_enter(why, it.begun());
    const auto own = it.last().pending.front().first.path.substr(3) + "0000000001";
    bool is_opened = false;
    while (!it.last().pending.empty() && !entering.done()) {
      const auto asked = it.last().pending.front().first;
      backend::reply reply;
      reply.stat.ephemeral_owner = 0x77;
      if (asked.op == backend::opcode::create) reply.path = "/b/" + own;
      if (asked.op == backend::opcode::get && asked.path == "/b") reply.data = serialize(round_record{number, {}, {}});
      if (asked.op == backend::opcode::children) reply.children = {own};
      if (asked.op == backend::opcode::multi) reply.results.resize(asked.operations.size()), is_opened = true;
      it.answer(std::move(reply));
    }
    BOOST_TEST_REQUIRE(entering.done());
    BOOST_TEST(is_opened == (number < last_round));
    const auto expected = is_opened ? error_code() : make_error_code(errc::foreign_data);
    BOOST_TEST((entering.error() == expected), entering.error().message());
    BOOST_TEST(why.text().empty() == is_opened);
  }
}
