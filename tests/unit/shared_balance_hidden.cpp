// Nodes among the members of a shared balance that can not be read, and many that are no members.
#include <algorithm>
#include <limits>

#include "unit/member_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

namespace {

struct crowd_case : member_case {
  static backend::reply node_of(std::int64_t owner, std::optional<std::int64_t> floor = std::nullopt) {
    backend::reply node;
    node.data = serialize(detail::pace_member_record{"other", floor});
    node.stat.ephemeral_owner = owner;
    return node;
  }
  void list_changes(strings names, std::int32_t version) {
    fire(backend::change::children, "/p/members");
    CHECK_PENDING("children /p/members");
    list_members(std::move(names), version);
  }
  /// Answers heartbeats until the node is read again. Returns how long it took.
  std::chrono::nanoseconds wait_for_look(const std::string& path) {
    const auto began = now();
    for (int i = 0; i < 1000 && (pending().empty() || pending().front() != "get " + path); ++i) {
      while (!pending().empty() && pending().front() == "exists /") answer();
      advance(50ms);
    }
    BOOST_TEST_REQUIRE(pending().front() == "get " + path);
    return now() - began;
  }
  std::string aside() const { return "/p/members/aside-" + name; }
  /// We are the pacer, and a node that we can not read belongs to a session: we step aside.
  void step_aside(strings names, const std::string& hidden) {
    list_changes(names, 4);
    CHECK_PENDING("get /p/members/" + hidden);
    fail(errc::no_auth);
    CHECK_PENDING("exists /p/members/" + hidden);  // which needs no right
    answer(node_of(5));
    CHECK_PENDING("create " + aside());
    BOOST_TEST((last().pending.front().first.mode == create_mode::ephemeral));
    answer();
    CHECK_PENDING();
    names.push_back("aside-" + name);
    list_changes(names, 4);
    BOOST_TEST(!pace.status().is_pacer);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_balance_crowds, crowd_case)

BOOST_AUTO_TEST_CASE(a_pacer_that_can_not_read_a_live_member_steps_aside_and_names_it) {
  join(8);
  step_aside({"member-0", name}, "member-0");
  BOOST_TEST(!ended.done(), ended.error().message());
  BOOST_TEST((pace.status().error == errc::no_auth), pace.status().error.message());
  BOOST_TEST(pace.status().obstacle == "/p/members/member-0");
  BOOST_TEST(steps(2) == 2);
  CHECK_PENDING("set " + own_node());  // no limit
  answer();
  CHECK_PENDING();
  wait_for_look("/p/members/member-0");
  fail(errc::no_auth);
  CHECK_PENDING();  // who owns it is known
  wait_for_look("/p/members/member-0");
  answer(node_of(5, 4));  // the right was given
  CHECK_PENDING("remove " + aside());
  answer();
  BOOST_TEST(!pace.status().is_pacer);
  BOOST_TEST(!pace.status().error, pace.status().error.message());
  BOOST_TEST(pace.status().obstacle == "");
  list_changes({name}, 4);
  BOOST_TEST(pace.status().is_pacer);
  CHECK_PENDING("multi /");
}

BOOST_AUTO_TEST_CASE(one_that_can_not_be_read_and_goes_holds_nothing_up_any_more) {
  join(8);
  step_aside({name, "member-zz"}, "member-zz");
  BOOST_TEST(steps(2) == 2);
  answer();
  CHECK_PENDING();
  list_changes({name, "aside-" + name}, 4);
  CHECK_PENDING("remove " + aside());
  answer();
  CHECK_PENDING("multi /");
  answer(written(2));
  BOOST_TEST(pace.status().limit == 10u);
  BOOST_TEST(!pace.status().error);
  BOOST_TEST(pace.status().obstacle == "");
}

BOOST_AUTO_TEST_CASE(the_next_one_paces_while_the_first_stands_aside) {
  join(8);
  list_changes({"member-0", name, "member-zz"}, 4);
  answer(node_of(5, 4));
  BOOST_TEST(!pace.status().is_pacer);
  list_changes({"member-0", "aside-member-0", name, "member-zz"}, 4);
  BOOST_TEST(pace.status().is_pacer);
  CHECK_PENDING("get /p/members/member-0", "get /p/members/member-zz");
  answer(node_of(5, 4));
  answer(node_of(6, 4));
  BOOST_TEST(steps(4) == 4);
  CHECK_PENDING("set " + own_node(), "multi /");
  answer();
  BOOST_TEST(detail::parse_limit_record(answer(written(2)).operations[1].data)->limit == 12);
  list_changes({"member-0", name, "member-zz"}, 4);
  BOOST_TEST(!pace.status().is_pacer, "it has taken the mark back");
}

BOOST_AUTO_TEST_CASE(a_mark_that_an_operator_removes_is_made_again) {
  join(8);
  step_aside({name, "member-zz"}, "member-zz");
  list_changes({name, "member-zz"}, 4);
  CHECK_PENDING("create " + aside());
}

BOOST_AUTO_TEST_CASE(the_mark_goes_with_the_membership) {
  join(8);
  step_aside({name, "member-zz"}, "member-zz");
  pace.stop();
  settle();
  auto sent = pending();
  BOOST_TEST(std::ranges::count(sent, "remove " + own_node()) == 1);
  BOOST_TEST(std::ranges::count(sent, "remove " + aside()) == 1);
}

BOOST_AUTO_TEST_CASE(the_looks_at_a_node_that_can_not_be_read_become_rare) {
  join(8);
  step_aside({name, "member-zz"}, "member-zz");
  auto before = wait_for_look("/p/members/member-zz");
  advance(5s);  // the answer takes its time: the pause begins behind it
  for (int i = 0; i < 8; ++i) {
    fail(errc::no_auth);
    BOOST_TEST(std::ranges::count(pending(), "exists /p/members/member-zz") == 0);
    const auto pause = wait_for_look("/p/members/member-zz");
    BOOST_TEST((pause >= std::min<std::chrono::nanoseconds>(2 * before - 200ms, 29s)));
    BOOST_TEST((pause <= 31s));
    before = pause;
  }
  BOOST_TEST((before >= 29s));
}

BOOST_AUTO_TEST_CASE(of_many_that_can_not_be_read_one_is_read_again) {
  join(8);
  strings names{name};
  for (int i = 0; i < 1000; ++i) names.push_back("member-zz" + std::to_string(i));
  list_changes(names, 4);
  BOOST_TEST(pending().size() == 100u);
  for (auto sent = pending().size(); sent > 0; --sent) fail(errc::no_auth);
  BOOST_TEST(pending().size() == 100u);
  for (auto sent = pending().size(); sent > 0; --sent) answer(node_of(5));
  CHECK_PENDING("create " + aside());
  answer();
  CHECK_PENDING();  // one holds the limit, so the others need not be known
  wait_for_look("/p/members/member-zz0");
  BOOST_TEST(pending().size() == 1u);
  answer(node_of(5, 4));
  BOOST_TEST(pending().size() == 2u, "the right was given: the next ones may be readable, too");
}

BOOST_AUTO_TEST_CASE(a_lost_reply_does_not_make_a_node_readable) {
  join(8);
  step_aside({"member-0", name}, "member-0");
  wait_for_look("/p/members/member-0");
  fail(errc::server_error);
  BOOST_TEST(!pace.status().is_pacer);
  CHECK_PENDING();  // it keeps its mark
  wait_for_look("/p/members/member-0");
}

BOOST_AUTO_TEST_CASE(a_container_and_a_node_with_a_time_to_live_are_no_members) {
  join(8);
  list_changes({name, "member-zx", "member-zy", "member-zz"}, 4);
  answer(node_of(std::numeric_limits<std::int64_t>::min()));
  answer(node_of(static_cast<std::int64_t>(0xff00000000001000)));
  answer(node_of(static_cast<std::int64_t>(0xff12340000001000), 4));  // a session of the server 255
  BOOST_TEST(steps(4) == 4);
  CHECK_PENDING("set " + own_node(), "multi /");
  answer();
  BOOST_TEST(detail::parse_limit_record(answer(written(2)).operations[1].data)->limit == 12);
}

BOOST_AUTO_TEST_CASE(one_that_can_not_be_read_and_belongs_to_no_session_counts_for_nothing) {
  join(8);
  list_changes({"member-0", name}, 4);
  fail(errc::no_auth);
  CHECK_PENDING("exists /p/members/member-0");
  answer(node_of(0));
  BOOST_TEST(pace.status().is_pacer);
  BOOST_TEST(!pace.status().error, pace.status().error.message());
  BOOST_TEST(steps(2) == 2);
  CHECK_PENDING("set " + own_node(), "multi /");
}

BOOST_AUTO_TEST_CASE(one_that_can_not_be_read_and_has_gone_meanwhile_is_forgotten) {
  join(8);
  list_changes({"member-0", name}, 4);
  fail(errc::no_auth);
  CHECK_PENDING("exists /p/members/member-0");
  fail(errc::no_node);
  BOOST_TEST(pace.status().is_pacer);
  BOOST_TEST(!pace.status().error);
}

BOOST_AUTO_TEST_CASE(a_foreign_node_is_named) {
  join(8);
  list_changes({name, "member-zz"}, 4);
  auto other = node_of(5);
  other.data = "something else";
  answer(other);
  BOOST_TEST((pace.status().error == errc::foreign_data));
  BOOST_TEST(pace.status().obstacle == "/p/members/member-zz");
}

BOOST_AUTO_TEST_CASE(many_nodes_ahead_that_are_no_members_are_passed_over_in_few_round_trips) {
  join(8);
  strings names;
  for (int i = 0; i < 1000; ++i) names.push_back("member-0-" + std::to_string(i));
  BOOST_TEST_REQUIRE(std::ranges::all_of(names, [&](const auto& each) { return each < name; }));
  names.push_back("member-0");  // the first
  names.push_back(name);
  list_changes(names, 4);
  CHECK_PENDING("get /p/members/member-0");  // alone: it is mostly a live member
  std::size_t rounds = 0;
  while (!pace.status().is_pacer) {
    BOOST_TEST_REQUIRE(rounds++ < 50u);
    for (auto sent = pending().size(); sent > 0; --sent) answer(node_of(0));
  }
  BOOST_TEST(rounds <= 20u);
  BOOST_TEST(rounds >= 10u, "at most 100 at once");
}

BOOST_AUTO_TEST_SUITE_END()
