// A line as one of its members knows it: departures, ghosts, what is forgotten. No session.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/double_barrier.hpp>
#include <zkrecipes/read_write_lock.hpp>
#include <zkrecipes/semaphore.hpp>
#include <zkrecipes/two_phase_commit.hpp>

#include "line/line_spec.hpp"
#include "line/waiter.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes::detail;
using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr std::string_view markers[] = {"lock-"};

std::string name_with(const std::string& guid, std::int32_t number) {
  auto digits = std::to_string(number);
  if (number >= 0) digits.insert(0, 10 - digits.size(), '0');
  return "_c_" + guid + "-lock-" + digits;
}

std::string name(std::int32_t number) { return name_with("them", number); }

/// A line of members with these numbers, as the server lists it: in any order.
member_list line(std::vector<std::string> children) {
  return std::make_shared<const std::vector<member>>(members_of(children, markers));
}

member_list line(std::int32_t from, std::int32_t to) {
  std::vector<std::string> children;
  for (auto i = from; i < to; ++i) children.push_back(name(i));
  std::ranges::reverse(children);
  return line(std::move(children));
}

const blocker first_come_first_served = &nearest_ahead;

struct in_a_line {
  /// Knows this line, as the member with this number.
  void know(member_list listed, std::int32_t number, std::string_view ghost = {}) {
    const auto own_name = name(number);
    known.assign(std::move(listed), {own_name, number}, ghost);
  }
  void depart(const std::vector<std::int32_t>& numbers, const stretch& watched) {
    std::vector<std::string> names;
    for (const auto each : numbers) names.push_back(name(each));
    known.depart(names, watched, first_come_first_served);
  }
  std::vector<std::int32_t> numbers() const {
    std::vector<std::int32_t> all;
    for (const auto& each : known.members()) all.push_back(each.sequence);
    return all;
  }

  roster known;
};

using numbers_type = std::vector<std::int32_t>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rosters, in_a_line)

BOOST_AUTO_TEST_CASE(before_the_first_list_nothing_is_known) {
  BOOST_TEST(!known.is_current());
  BOOST_TEST(known.members().empty());
  BOOST_TEST(!known.is_next());
  BOOST_TEST(!known.has_followers());
}

BOOST_AUTO_TEST_CASE(a_list_tells_where_we_are) {
  know(line(3, 8), 5);
  BOOST_TEST(known.is_current());
  BOOST_TEST(known.position() == 2u);
  BOOST_TEST(known.self() == 2u);
  BOOST_TEST(known.has_followers());
  BOOST_TEST(!known.is_next());
  know(line(3, 8), 4);
  BOOST_TEST(known.is_next());
  know(line(3, 8), 7);
  BOOST_TEST(!known.has_followers());
  know(line(3, 8), 3);
  BOOST_TEST(known.position() == 0u);
  BOOST_TEST(!known.is_next());
}

BOOST_AUTO_TEST_CASE(a_list_without_us_is_not_used) {
  know(line(3, 8), 9);
  BOOST_TEST(!known.is_current());
  know(line({name_with("others", 5), name(4)}), 5);
  BOOST_TEST(!known.is_current(), "the number alone does not make it ours");
}

BOOST_AUTO_TEST_CASE(the_order_is_that_of_arrival_also_where_numbers_wrap) {
  constexpr std::int32_t last = 2147483647;
  constexpr std::int32_t first = -2147483647 - 1;
  know(line({name(first), name(last), name(first + 1), name(last - 1)}), first + 1);
  BOOST_TEST(numbers() == (numbers_type{last - 1, last, first, first + 1}), boost::test_tools::per_element());
  BOOST_TEST(known.position() == 3u);
  know(line({name(last), name(last - 2), name(last - 1)}), last);
  BOOST_TEST(known.position() == 2u);
}

BOOST_AUTO_TEST_CASE(a_second_node_of_ours_is_left_out_and_ours_stays) {
  const auto listed = line({name_with("us", 4), name(3), name(5), name_with("us", 7)});
  const auto own_name = name_with("us", 7);
  known.assign(listed, {own_name, 7}, "us");
  BOOST_TEST(numbers() == (numbers_type{3, 5, 7}), boost::test_tools::per_element());
  BOOST_TEST(known.position() == 2u);
  BOOST_TEST(listed->size() == 4u, "the others look at the same list");
}

BOOST_AUTO_TEST_CASE(without_a_lost_reply_nobody_is_taken_for_a_ghost) {
  const auto listed = line({name_with("us", 4), name_with("us", 7)});
  const auto own_name = name_with("us", 7);
  known.assign(listed, {own_name, 7}, "");
  BOOST_TEST(known.position() == 1u);
  BOOST_TEST(known.members().data() == listed->data(), "the list is shared, not copied");
  known.assign(listed, {own_name, 7}, "nobody");
  BOOST_TEST(known.members().data() == listed->data());
}

BOOST_AUTO_TEST_CASE(when_all_are_watched_departures_in_any_order_leave_it_current) {
  know(line(0, 6), 4);
  depart({2, 0}, stretch(0, 4));
  BOOST_TEST(known.is_current());
  BOOST_TEST(numbers() == (numbers_type{1, 3, 4, 5}), boost::test_tools::per_element());
  BOOST_TEST(known.position() == 2u);
  depart({3}, stretch(0, 2));
  BOOST_TEST(known.is_next());
  depart({1}, stretch(0, 1));
  BOOST_TEST(known.is_current());
  BOOST_TEST(known.position() == 0u);
}

BOOST_AUTO_TEST_CASE(when_only_the_nearest_is_watched_its_departure_does_not_tell_whom_to_wait_for) {
  know(line(0, 6), 4);
  depart({3}, stretch(3));
  BOOST_TEST(!known.is_current());
  BOOST_TEST(known.position() == 3u);
}

BOOST_AUTO_TEST_CASE(the_departure_of_the_only_one_ahead_needs_no_further_list) {
  know(line(3, 6), 4);
  depart({3}, stretch(0));
  BOOST_TEST(known.is_current());
  BOOST_TEST(known.position() == 0u);
  BOOST_TEST(known.has_followers());
}

BOOST_AUTO_TEST_CASE(a_departure_told_twice_or_of_nobody_counts_once_or_not) {
  know(line(0, 4), 3);
  depart({1, 1, 17}, stretch(0, 3));
  BOOST_TEST(known.position() == 2u);
  depart({1}, stretch(1));
  BOOST_TEST(known.is_current(), "nobody has left");
  depart({}, stretch(1));
  BOOST_TEST(known.is_current());
  depart({3}, stretch(0, 2));
  BOOST_TEST(known.position() == 2u, "we do not depart by this");
  BOOST_TEST(numbers() == (numbers_type{0, 2, 3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_others_do_not_see_our_departures) {
  const auto listed = line(0, 4);
  know(listed, 3);
  depart({0}, stretch(0, 3));
  BOOST_TEST(known.members().data() == listed->data() + 1, "from the front: the list is still shared");
  depart({2}, stretch(0, 2));
  BOOST_TEST(numbers() == (numbers_type{1, 3}), boost::test_tools::per_element());
  BOOST_TEST(listed->size() == 4u);
}

BOOST_AUTO_TEST_CASE(that_a_member_lets_others_pass_is_seen_by_all_who_share_the_list) {
  const auto listed = line(0, 4);
  know(listed, 3);
  roster other;
  const auto own_name = name(2);
  other.assign(listed, {own_name, 2}, {});
  known.set_pass(1, true);
  BOOST_TEST(other.members()[1].lets_pass);
}

BOOST_AUTO_TEST_CASE(that_the_one_ahead_lets_others_pass_is_still_known_with_the_next_list) {
  know(line(0, 4), 3);
  known.set_pass(2, true);
  know(line(1, 4), 3);
  BOOST_TEST(known.members()[1].lets_pass);
  BOOST_TEST(!known.members()[0].lets_pass);
}

BOOST_AUTO_TEST_CASE(by_the_list_of_another_it_may_be_our_turn) {
  const auto listed = line(0, 6);
  const auto own_name = name(4);
  const auto turn = [&](std::size_t departed, std::vector<std::string> gone) {
    return known.take_turn_by(listed, departed, gone, {own_name, 4}, first_come_first_served);
  };
  know(line(0, 6), 4);
  known.forget_all_but(3);
  BOOST_TEST(!known.take_turn_by(nullptr, 0, {}, {own_name, 4}, first_come_first_served));
  BOOST_TEST(!turn(3, {}), "the one ahead is still there");
  BOOST_TEST(!turn(2, {name(3)}), "who is in front of it, too");
  BOOST_TEST(known.position() == 4u);
  BOOST_TEST(turn(3, {name(3)}));
  BOOST_TEST(known.is_current());
  BOOST_TEST(known.position() == 0u);
  BOOST_TEST(known.has_followers());
  BOOST_TEST(known.list() == listed);
  BOOST_TEST(known.departed_in_front() == 4u);
  const auto later = name(7);
  BOOST_TEST(!known.take_turn_by(listed, 4, {}, {later, 7}, first_come_first_served), "we came after that list");
}

BOOST_AUTO_TEST_CASE(that_a_member_lets_others_pass_is_noted_until_the_next_list) {
  const auto listed = line(0, 3);
  know(listed, 2);
  known.set_pass(1, false);
  BOOST_TEST(known.members().data() == listed->data(), "nothing has changed");
  known.set_pass(1, true);
  BOOST_TEST(known.members()[1].lets_pass);
  BOOST_TEST(!known.members()[0].lets_pass);
  BOOST_TEST(known.is_current());
  known.set_pass(1, false);
  BOOST_TEST(!known.members()[1].lets_pass);
  known.set_pass(0, true);
  know(line(0, 3), 2);
  BOOST_TEST(!known.members()[0].lets_pass);
}

BOOST_AUTO_TEST_CASE(all_but_one_are_forgotten_and_counted) {
  know(line(0, 9), 6);
  const auto ahead = known.forget_all_but(5);
  BOOST_TEST((ahead == stretch(0)));
  BOOST_TEST(numbers() == (numbers_type{5, 6}), boost::test_tools::per_element());
  BOOST_TEST(known.members()[0].name == name(5));
  BOOST_TEST(known.self() == 1u);
  BOOST_TEST(known.position() == 6u);
  BOOST_TEST(known.is_current());
  BOOST_TEST(!known.is_next());
  BOOST_TEST(!known.has_followers(), "nothing is known of them any more");
}

BOOST_AUTO_TEST_CASE(after_forgetting_a_departure_asks_for_a_list) {
  know(line(0, 9), 6);
  known.forget_all_but(5);
  depart({5}, stretch(0));
  BOOST_TEST(!known.is_current(), "somebody who was forgotten may still be there");
  BOOST_TEST(known.position() == 5u);
  know(line({name(2), name(6)}), 6);
  BOOST_TEST(known.is_next());
  BOOST_TEST(known.position() == 1u);
  depart({2}, stretch(0));
  BOOST_TEST(known.is_current());
}

BOOST_AUTO_TEST_CASE(who_blocks_decides_whether_a_departure_among_some_makes_it_our_turn) {
  const blocker two_may_hold = [](std::span<const member>, std::size_t self) -> std::optional<stretch> {
    if (self < 2) return std::nullopt;
    return stretch(self - 1);
  };
  know(line(0, 4), 3);
  known.depart({name(2)}, stretch(2), two_may_hold);
  BOOST_TEST(!known.is_current());
  know(line({name(0), name(1), name(3)}), 3);
  known.depart({name(1)}, stretch(1), two_may_hold);
  BOOST_TEST(known.is_current(), "it is our turn");
}

BOOST_AUTO_TEST_CASE(ten_thousand_members_are_no_burden) {
  constexpr std::int32_t crowd = 10'000;
  know(line(0, crowd), crowd - 1);
  BOOST_TEST(known.position() == static_cast<std::size_t>(crowd - 1));
  numbers_type odd;
  for (std::int32_t i = 1; i < 2'000; i += 2) odd.push_back(i);
  depart(odd, stretch(0, crowd - 1));
  BOOST_TEST(known.is_current());
  BOOST_TEST(known.position() == static_cast<std::size_t>(crowd - 1 - 1'000));
  known.forget_all_but(known.self() - 1);
  BOOST_TEST(known.members().size() == 2u);
  BOOST_TEST(known.members()[0].sequence == crowd - 2);
  BOOST_TEST(known.position() == static_cast<std::size_t>(crowd - 1 - 1'000));
}

BOOST_AUTO_TEST_SUITE_END()

// The id that a member stores, whatever it looks like: nobody may take it for a record or for a request.
namespace {

const std::string deceptive[] = {R"({"id":"x","shared":true})", R"({"revoke":true,"grace_ms":0})", "__REVOKE__", "{"};

/// What the next operation stores in the node that it creates.
struct storing : connected_session {
  std::string stored() {
    settle();
    while (!last().pending.empty()) {
      const auto asked = last().pending.front().first;
      if (asked.op == backend::opcode::create && !asked.data.empty()) return asked.data;
      answer();
    }
    return "nothing";
  }
  void check(const std::string& what, const std::string& id) {
    const auto data = stored();
    BOOST_TEST(member_id(data) == id, what << ' ' << data);
    BOOST_TEST(!is_shared(data), what << ' ' << data);
    BOOST_TEST(!asks_revocation(data), what << ' ' << data);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(member_data)

BOOST_AUTO_TEST_CASE(a_plain_id_stays_plain) {
  BOOST_TEST(id_data("billing-2") == "billing-2");
  BOOST_TEST(id_data("REVOKE") == "REVOKE");
  BOOST_TEST(id_data("__REVOKE__") == R"({"zkrecipes":"member","id":"__REVOKE__"})");
  BOOST_TEST(id_data("{x") == R"({"zkrecipes":"member","id":"{x"})");
}

BOOST_AUTO_TEST_CASE(no_recipe_stores_an_id_that_is_taken_for_something_else) {
  const auto with = [](const auto& id, auto begin) {
    storing it;
    auto held = it.record<ownership>();
    begin(it.zk, line_options{.id = id}, held.token());
    it.check("an acquisition", id);
  };
  for (const auto& id : deceptive) {
    with(id, [](auto& zk, auto options, auto token) { read_write_lock(zk, "/l", options).async_acquire_read(token); });
    with(id, [](auto& zk, auto options, auto token) { read_write_lock(zk, "/l", options).async_acquire_write(token); });
    with(id,
         [](auto& zk, auto options, auto token) { read_write_lock(zk, "/l", options).async_try_acquire_read(token); });
    with(id,
         [](auto& zk, auto options, auto token) { read_write_lock(zk, "/l", options).async_try_acquire_write(token); });
    with(id, [](auto& zk, auto options, auto token) { semaphore(zk, "/s", 1, options).async_acquire(token); });
    with(id, [](auto& zk, auto options, auto token) { semaphore(zk, "/s", 1, options).async_try_acquire(token); });
    storing entering;
    auto entered = double_barrier(entering.zk, "/b", 2, {.id = id}).async_enter(entering.recorded());
    entering.check("a double barrier", id);
    storing coordinating;
    auto ended = two_phase_commit(coordinating.zk, "/c").async_coordinate({.id = id}, coordinating.recorded());
    coordinating.check("a coordinator of transactions", id);
  }
}

BOOST_AUTO_TEST_CASE(nor_does_an_upgrade) {
  for (const auto& id : deceptive) {
    storing it;
    read_write_lock guarded(it.zk, "/l", {.id = id});
    auto reading = guarded.async_acquire_read(it.begun());
    backend::reply made;
    made.path = it.last().pending.front().first.path + "0000000001";
    made.stat.ephemeral_owner = 0x77;
    it.answer(made);
    it.list({made.path.substr(3)});
    BOOST_TEST_REQUIRE(reading.done());
    while (!it.pending().empty()) it.answer();
    auto writing = guarded.async_try_upgrade(reading.result<0>(), it.begun());
    it.list({made.path.substr(3)});
    it.check("an upgrade", id);
  }
}

BOOST_AUTO_TEST_SUITE_END()
