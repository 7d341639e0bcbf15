// A member of a shared balance, request by request.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/flow/shared_balance.hpp>

#include "balance/pacer.hpp"
#include "unit/fake_session.hpp"

namespace zkrecipes::test {

/// A member of a shared balance in the fake world.
/// The range is 8, so granules are of 2 steps.
struct member_case : fake_session {
  member_case() : pace(zk, "/p", {.id = "me", .range = 8}), ended(record<>()) {
    connect();
    pace.async_run(ended.token());
    track = pace.track("t");
    settle();
  }

  static backend::reply limit_at(std::int64_t limit, std::int64_t zxid, std::int64_t range = 8) {
    backend::reply node;
    node.data = serialize(detail::limit_record{range, limit});
    node.stat.mzxid = zxid;
    node.stat.version = static_cast<std::int32_t>(zxid);
    return node;
  }
  /// Joins while the limit is this, and answers the first reads of the tasks: alone, so it is the pacer.
  void join(std::int64_t limit) {
    CHECK_PENDING("get /p/limit");
    answer(limit_at(limit, 1));
    CHECK_PENDING("multi /", "get /p/limit");
    const auto both = answer();
    BOOST_TEST_REQUIRE(both.operations.size() == 2u);
    BOOST_TEST((both.operations[0].mode == create_mode::ephemeral));
    name = both.operations[0].path.substr(std::string("/p/members/").size());
    BOOST_TEST((both.operations[1].type == operation::kind::set));
    BOOST_TEST(both.operations[1].path == "/p/members");
    BOOST_TEST(both.operations[1].version == any_version);  // it need not win a race
    answer(limit_at(limit, 1));
    CHECK_PENDING("get /p/limit", "children /p/members");
    answer(limit_at(limit, 1));
    list_members({name}, 3);
  }
  void list_members(std::vector<std::string> names, std::int32_t version) {
    answer_with({.stat = {.version = version}, .children = std::move(names)});
  }
  int steps(int most = 100) {
    int made = 0;
    while (made < most && track.try_move()) ++made;
    settle();
    return made;
  }
  std::string own_node() const { return "/p/members/" + name; }
  static backend::reply written(std::int64_t zxid) {
    backend::reply done;
    done.results.resize(3);
    done.results[1].stat.mzxid = zxid;
    done.results[1].stat.version = static_cast<std::int32_t>(zxid);
    return done;
  }

  shared_balance pace;
  shared_balance_track track;
  recorder<> ended;
  std::string name;
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(shared_balance_members, member_case)

BOOST_AUTO_TEST_CASE(a_limit_requires_the_version_of_the_list_and_that_of_the_limit) {
  join(8);
  BOOST_TEST(pace.status().is_pacer);
  BOOST_TEST(steps(2) == 2);
  CHECK_PENDING("set " + own_node(), "multi /");
  answer();
  const auto both = answer(written(2));
  BOOST_TEST_REQUIRE(both.operations.size() == 3u);
  BOOST_TEST((both.operations[0].type == operation::kind::check));
  BOOST_TEST(both.operations[0].path == "/p/members");
  BOOST_TEST(both.operations[0].version == 3);
  BOOST_TEST(both.operations[1].path == "/p/limit");
  BOOST_TEST(both.operations[1].version == 1);
  BOOST_TEST((both.operations[2].type == operation::kind::check));
  BOOST_TEST(both.operations[2].path == own_node());  // it is not there in a path that was made anew
  BOOST_TEST(pace.status().limit == 10u);
  BOOST_TEST(pace.status().floor == 2u);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_field_of_a_later_version_is_kept) {
  join(8);
  fire(backend::change::data, "/p/limit");
  auto later = limit_at(8, 2);
  later.data = R"({"zkrecipes":"shared_balance","range":8,"limit":8,"colour":"red"})";
  answer(later);
  BOOST_TEST(steps(2) == 2);
  answer();
  const auto both = answer(written(3));
  BOOST_TEST(both.operations[1].data == R"({"zkrecipes":"shared_balance","range":8,"limit":10,"colour":"red"})");
}

BOOST_AUTO_TEST_CASE(the_limit_stays_while_a_newcomer_has_told_no_floor) {
  join(8);
  fire(backend::change::children, "/p/members");
  CHECK_PENDING("children /p/members");
  list_members({name, "member-zz"}, 4);
  CHECK_PENDING("get /p/members/member-zz");
  backend::reply newcomer;
  newcomer.data = serialize(detail::pace_member_record{"new", std::nullopt});
  newcomer.stat.ephemeral_owner = 5;
  answer(newcomer);
  BOOST_TEST(steps() == 8);
  CHECK_PENDING("set " + own_node());  // the floor, and no limit
  answer();
  CHECK_PENDING();
  fire(backend::change::data, "/p/members/member-zz");
  CHECK_PENDING("get /p/members/member-zz");
  newcomer.data = serialize(detail::pace_member_record{"new", 4});
  answer(newcomer);
  CHECK_PENDING("multi /");
  const auto both = answer(written(2));
  BOOST_TEST(detail::parse_limit_record(both.operations[1].data)->limit == 12);
  BOOST_TEST(both.operations[0].version == 4);
}

BOOST_AUTO_TEST_CASE(a_first_name_that_is_no_live_member_is_passed_over) {
  join(8);
  fire(backend::change::children, "/p/members");
  list_members({"member-0", "member-00", name}, 4);
  BOOST_TEST(!pace.status().is_pacer);
  CHECK_PENDING("get /p/members/member-0");
  backend::reply persistent;
  persistent.data = serialize(detail::pace_member_record{"left behind", 0});
  answer(persistent);
  CHECK_PENDING("get /p/members/member-00");
  backend::reply other;
  other.data = "something else";
  other.stat.ephemeral_owner = 5;
  answer(other);
  BOOST_TEST(pace.status().is_pacer);
  CHECK_PENDING("get /p/members/member-0", "get /p/members/member-00");  // now it watches them
  answer(persistent);
  answer(other);
  BOOST_TEST((pace.status().error == errc::foreign_data));
  BOOST_TEST(steps(2) == 2);
  CHECK_PENDING("set " + own_node());  // the foreign one holds the limit
  answer();
  fire(backend::change::children, "/p/members");
  list_members({"member-0", name}, 4);
  CHECK_PENDING("multi /");  // the one without a session does not
  answer(written(2));
  BOOST_TEST(pace.status().limit == 10u);
  BOOST_TEST(!pace.status().error);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(the_first_name_is_read_once_and_waited_for_if_it_is_a_live_member) {
  join(8);
  fire(backend::change::children, "/p/members");
  list_members({"member-0", name}, 4);
  CHECK_PENDING("get /p/members/member-0");
  answer_with({.data = serialize(detail::pace_member_record{"first", 0}), .stat = {.ephemeral_owner = 5}});
  fire(backend::change::children, "/p/members");
  list_members({"member-0", name, "member-zz"}, 5);
  BOOST_TEST(steps(2) == 2);
  CHECK_PENDING("set " + own_node());
  answer();
  CHECK_PENDING();
  BOOST_TEST(!pace.status().is_pacer);
  fire(backend::change::children, "/p/members");
  list_members({name}, 5);
  BOOST_TEST(pace.status().is_pacer);
  CHECK_PENDING("multi /");
}

BOOST_AUTO_TEST_CASE(a_member_that_can_be_the_pacer_after_all_is_left_to_it) {
  join(8);
  fire(backend::change::children, "/p/members");
  list_members({"member-0", name}, 4);
  backend::reply first;
  first.data = "something else";
  first.stat.ephemeral_owner = 5;
  answer(first);
  CHECK_PENDING("get /p/members/member-0");
  answer(first);
  BOOST_TEST(pace.status().is_pacer);
  fire(backend::change::data, "/p/members/member-0");
  CHECK_PENDING("get /p/members/member-0");
  first.data = serialize(detail::pace_member_record{"first", 0});
  answer(first);
  BOOST_TEST(!pace.status().is_pacer);
  BOOST_TEST(!pace.status().error);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_limit_that_was_refused_is_computed_from_a_new_list) {
  join(8);
  BOOST_TEST(steps(2) == 2);
  answer();
  fail(errc::bad_version);
  CHECK_PENDING("get /p/limit", "children /p/members");
  answer(limit_at(8, 1));
  list_members({name}, 7);
  CHECK_PENDING("multi /");
  const auto both = answer(written(2));
  BOOST_TEST(both.operations[0].version == 7);
}

BOOST_AUTO_TEST_CASE(the_floor_is_told_although_the_limit_can_not_be_written) {
  join(8);
  BOOST_TEST(steps(2) == 2);
  answer();
  BOOST_TEST(steps(2) == 2);
  CHECK_PENDING("multi /", "set " + own_node());  // the first is still without an answer
  fail(errc::server_error);
  const auto told = answer();
  BOOST_TEST(detail::parse_pace_member_record(told.data)->floor.value_or(-1) == 4);
  BOOST_TEST((pace.status().error == errc::server_error));
}

BOOST_AUTO_TEST_CASE(a_floor_that_is_not_taken_is_seen_in_the_status) {
  join(8);
  BOOST_TEST(steps(2) == 2);
  fail(errc::server_error);
  BOOST_TEST((pace.status().error == errc::server_error));
  answer(written(2));
  BOOST_TEST((pace.status().error == errc::server_error));  // the limit is fine
  for (int i = 0; i < 100 && pace.status().error; ++i) {
    advance(100ms);
    while (!pending().empty()) answer();
  }
  BOOST_TEST(!pace.status().error);
}

BOOST_AUTO_TEST_CASE(a_change_during_a_throttled_read_is_not_missed) {
  join(8);
  fire(backend::change::data, "/p/limit");
  CHECK_PENDING("get /p/limit");
  throttle();
  CHECK_PENDING();
  fire(backend::change::data, "/p/limit");  // of the watch that the throttled read may have set
  for (int i = 0; i < 100 && pending() != strings{"get /p/limit"}; ++i) {
    advance(10ms);
    while (!pending().empty() && pending().front() != "get /p/limit") answer();  // heartbeats
  }
  CHECK_PENDING("get /p/limit");
  answer(limit_at(12, 5));
  BOOST_TEST(pace.status().limit == 12u);
}

BOOST_AUTO_TEST_CASE(a_missing_list_means_that_the_own_node_was_removed) {
  join(8);
  BOOST_TEST(steps() == 8);
  answer();
  fail(errc::bad_version);
  recorder<> waits = record<>();
  track.async_move(waits.token());
  settle();
  fail(errc::no_node);  // the limit
  BOOST_TEST(!pace.status().is_member);
  BOOST_TEST(!track.try_move());
  while (!pending().empty() && pending().front() != "get /p/limit") fail(errc::no_node);
  advance(2s);
  while (!pending().empty() && pending().front() != "get /p/limit") fail(errc::no_node);
  CHECK_PENDING("get /p/limit");  // it joins anew
  answer(limit_at(8, 9));
  CHECK_PENDING("multi /", "get /p/limit");
  answer();
  answer(limit_at(9, 9));
  BOOST_TEST(succeeded(waits));
}

BOOST_AUTO_TEST_CASE(members_that_were_removed_beside_the_limit_end_the_run) {
  join(8);
  fire(backend::change::deleted, "/p/members");
  int tries = 0;
  for (int i = 0; i < 100 && !ended.done(); ++i) {
    while (!pending().empty()) {
      const auto what = pending().front();
      const bool stands = what == "get /p/limit" || what == "exists /";
      tries += what == "multi /" ? 1 : 0;
      stands ? answer(limit_at(8, 1)) : fail(errc::no_node);
    }
    advance(1s);
  }
  BOOST_TEST((ended.error() == errc::no_node));
  BOOST_TEST(tries == 5);
}

BOOST_AUTO_TEST_CASE(what_is_no_limit_ends_the_run_and_is_left_as_it_is) {
  answer_with({.data = "something else"});
  BOOST_TEST((ended.error() == errc::foreign_data));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(another_range_ends_the_run) {
  answer(limit_at(9, 1, 9));
  BOOST_TEST((ended.error() == errc::size_mismatch));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_run_that_is_stopped_removes_the_node_and_ends_behind_the_answer) {
  join(8);
  recorder<> waits = record<>();
  BOOST_TEST(steps() == 8);
  answer();
  answer(written(2));
  BOOST_TEST(steps() == 8);
  track.async_move(waits.token());
  pace.stop();
  settle();
  BOOST_TEST((waits.error() == errc::closed));
  while (pending().front() != "remove " + own_node()) answer();
  BOOST_TEST(!ended.done());
  answer();
  BOOST_TEST(succeeded(ended));
  BOOST_TEST(!track.try_move());
}

BOOST_AUTO_TEST_CASE(a_run_that_is_stopped_without_a_connection_ends_at_once) {
  join(8);
  lose();
  pace.stop();
  settle();
  BOOST_TEST(succeeded(ended));
  connect();
  BOOST_TEST(std::ranges::count(pending(), "remove " + own_node()) == 1);  // the node goes all the same
}

BOOST_AUTO_TEST_SUITE_END()

// Nodes among the members of a shared balance that can not be read, and many that are no members.
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
