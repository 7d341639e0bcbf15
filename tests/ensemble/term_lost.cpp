// The end of a term whose leader lost its place: the message in hand, and how long the successor waits.
#include "ensemble/replica.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(term_lost, term_case)

BOOST_AUTO_TEST_CASE(the_successor_waits_for_the_confirmation_of_an_expired_leader) {
  hold_point message(executor());
  error_code committed = errc::timed_out;
  auto& a = add([&](career& does) {
    does.on_execute = [&](term present) -> asio::awaitable<void> {
      co_await message.pass();
      auto result = co_await present.async_commit(
          transaction().create("/x", "effect of " + std::to_string(present.epoch())), tuple);
      committed = std::get<0>(result);
    };
  });
  auto& b = add();
  wait([&] { return message.is_reached(); });
  cluster().expire(a.session_id());
  wait([&] { return a.does.terms[0].ending(); });
  wait([&] {
    const auto seen = view();
    return seen.hand_over && seen.hand_over->state == "awaiting" && seen.candidates[0].id == "b";
  });
  BOOST_TEST(view().hand_over->from == "a");
  BOOST_TEST(view().hand_over->to == "b");
  BOOST_TEST(view().leader.empty());
  BOOST_TEST(b.does.log.empty());
  message.open();
  wait_executing(b, 2);
  BOOST_TEST(b.does.terms[0].how() == takeover::confirmed_late);
  BOOST_TEST(!committed, committed.message());
  BOOST_TEST(a.does.has("hand_over 1 lost"));
  BOOST_TEST(get("/x").data == "effect of 1");
  BOOST_TEST(get("/x").stat.version == 0);
  BOOST_TEST(floor.most == 1);
  remove("/x");
  wait([&] { return in_line() == 2; });
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_frozen_leader_is_overtaken_after_its_deadline) {
  auto with = far_options();
  with.timeout = 2s;
  auto& a = add(connect_far(with), [](career& does) { does.with.hand_over_deadline = 300ms; });
  auto& b = add();
  wait_executing(a, 1);
  own().freeze(true);
  wait_executing(b, 2);
  BOOST_TEST(b.does.terms[0].how() == takeover::forced);
  BOOST_TEST(a.does.has("hand_over 1 lost"), "it knew in time that it was over");
  BOOST_TEST(floor.most == 1);
  recorder<> commit(executor());
  a.does.terms[0].async_commit(transaction().create("/x"), commit.token());
  own().freeze(false);
  wait([&] { return commit.done(); });
  BOOST_TEST(commit.error() == errc::superseded);
  wait([&] { return in_line() == 2; });
  stop_all();
}

BOOST_AUTO_TEST_CASE(the_effects_of_a_leader_that_is_gone_for_good_are_waited_for_no_longer_than_declared) {
  const auto begin = std::chrono::steady_clock::now();
  {
    asio::io_context elsewhere;  // a process of its own, as far as the others can tell
    session dying(elsewhere.get_executor(), options());
    career does(floor);
    does.with.hand_over_deadline = 1s;
    consumer_coordinator coordinator(dying, "/e", {.id = "dying"});
    coordinator.async_run(does, [](error_code) {});
    BOOST_TEST_REQUIRE(test::run_until(elsewhere, [&] { return does.has("execute 1"); }));
    floor.executing = 0;
    cluster().expire(dying.status().session_id);
  }
  auto& b = add();
  wait_executing(b, 2);
  BOOST_TEST(b.does.terms[0].how() == takeover::forced);
  BOOST_TEST((std::chrono::steady_clock::now() - begin >= 1s));
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_deadline_of_zero_is_not_waited_for) {
  {
    asio::io_context elsewhere;
    session dying(elsewhere.get_executor(), options());
    career does(floor);
    does.with.hand_over_deadline = 0s;
    consumer_coordinator coordinator(dying, "/e", {.id = "dying"});
    coordinator.async_run(does, [](error_code) {});
    BOOST_TEST_REQUIRE(test::run_until(elsewhere, [&] { return does.has("execute 1"); }));
    floor.executing = 0;
    cluster().expire(dying.status().session_id);
  }
  auto& b = add([](career& does) { does.with.hand_over_deadline = 0s; });
  wait_executing(b, 2);
  BOOST_TEST(b.does.terms[0].how() == takeover::forced);
  stop_all();
}

BOOST_AUTO_TEST_CASE(who_does_not_work_without_a_connection_ends_its_term) {
  auto& a = add(connect_far(), [](career& does) { does.with.work_while_suspended = false; });
  wait_executing(a, 1);
  disconnect(a.zk);
  wait([&] { return a.does.has("hand_over 1 suspended"); });
  BOOST_TEST(record_says(R"("phase":"executing")"), get("/e").data);
  reconnect();
  wait_executing(a, 2);
  BOOST_TEST(a.does.terms[1].how() == takeover::clean);
  BOOST_TEST(a.zk.status().incarnation == 1u);
  stop_all();
}

BOOST_AUTO_TEST_CASE(who_does_goes_on) {
  auto& a = add(connect_far());
  wait_executing(a, 1);
  disconnect(a.zk);
  BOOST_TEST(!a.does.terms[0].ending());
  recorder<> commit(executor());
  a.does.terms[0].async_commit(transaction().create("/x"), commit.token());
  reconnect();
  wait([&] { return commit.done(); });
  BOOST_TEST(!commit.error(), commit.error().message());
  BOOST_TEST(!a.does.terms[0].ending());
  remove("/x");
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_leader_whose_node_is_removed_hands_over) {
  auto& a = add();
  auto& b = add();
  wait_executing(a, 1);
  remove("/e/" + view().candidates[0].node);
  wait_executing(b, 2);
  BOOST_TEST(a.does.has("hand_over 1 lost"));
  wait([&] { return in_line() == 2; });
  BOOST_TEST(floor.most == 1);
  stop_all();
}

BOOST_AUTO_TEST_CASE(an_election_that_is_wiped_out_while_somebody_waits_for_a_confirmation) {
  hold_point message(executor());
  auto& a = add([&](career& does) { does.on_execute = [&](term) { return message.pass(); }; });
  auto& b = add();
  wait([&] { return message.is_reached(); });
  cluster().expire(a.session_id());
  wait([&] { return view().hand_over && view().hand_over->to == "b" && view().candidates.size() == 1; });
  const auto node = view().candidates[0].node;
  auto wiped = run(zk().async_commit(transaction().remove("/e/" + node).remove("/e"), tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(wiped), std::get<0>(wiped).message());
  wait_executing(b, 1);
  BOOST_TEST(b.does.terms[0].how() == takeover::first);
  message.open();
  wait([&] { return in_line() == 2; });
  BOOST_TEST(a.does.has("hand_over 1 lost"));
  stop_all();
}

BOOST_AUTO_TEST_CASE(who_may_not_write_the_record_any_more_leaves_without) {
  request_log log;
  auto with = options();
  with.trace = log.hook();
  auto& a = add(connect(with));
  wait_executing(a, 1);
  const acl all_but_write{{perm_read | perm_create | perm_delete | perm_admin, "world", "anyone"}};
  forbid_writing("/e", all_but_write);
  log.clear();
  a.coordinator.stop();
  wait_ended(a);
  BOOST_TEST(a.does.has("hand_over 1 resigned"));
  BOOST_TEST(log.count("multi") <= 3, "it does not try again and again");
  BOOST_TEST(record_says(R"("phase":"executing")"), get("/e").data);
}

BOOST_AUTO_TEST_SUITE_END()
