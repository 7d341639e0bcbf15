// A member of a shared balance, request by request.
#include <algorithm>

#include "unit/member_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

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
  backend::reply first;
  first.data = serialize(detail::pace_member_record{"first", 0});
  first.stat.ephemeral_owner = 5;
  answer(first);
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
  BOOST_TEST(waits.done());
  BOOST_TEST(!waits.error());
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
  backend::reply foreign;
  foreign.data = "something else";
  answer(foreign);
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
  BOOST_TEST(ended.done());
  BOOST_TEST(!ended.error());
  BOOST_TEST(!track.try_move());
}

BOOST_AUTO_TEST_CASE(a_run_that_is_stopped_without_a_connection_ends_at_once) {
  join(8);
  lose();
  pace.stop();
  settle();
  BOOST_TEST(ended.done());
  BOOST_TEST(!ended.error());
  connect();
  BOOST_TEST(std::ranges::count(pending(), "remove " + own_node()) == 1);  // the node goes all the same
}

BOOST_AUTO_TEST_SUITE_END()
