// Lost replies, removed nodes and expired sessions in a line.
#include "ensemble/campaigner.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(line_loss, line_fixture)

BOOST_AUTO_TEST_CASE(a_node_whose_creation_was_not_heard_of_is_found_and_used) {
  own().drop_reply(testcluster::op::create2);
  auto& ours = join(connect_far());
  BOOST_TEST_REQUIRE(run_until([&] { return ours.leads(); }));
  BOOST_TEST(own().drops() == 1u);
  const auto names = children("/e");
  BOOST_TEST_REQUIRE(names.size() == 1u);
  BOOST_TEST("/e/" + names[0] == ours.held().path());
  BOOST_TEST(ours.held().token() == get(ours.held().path()).stat.czxid);
  release(ours);
}

BOOST_AUTO_TEST_CASE(a_create_that_never_arrived_is_sent_again) {
  auto& leader = join();
  own().drop_request(testcluster::op::create2);
  auto& ours = join(connect_far());
  BOOST_TEST(own().drops() == 1u);
  BOOST_TEST(in_line() == 2u);
  release(leader);
  BOOST_TEST_REQUIRE(run_until([&] { return ours.leads(); }));
  release(ours);
}

BOOST_AUTO_TEST_CASE(a_list_that_was_not_heard_of_is_asked_for_again) {
  auto& leader = join();
  auto lossy = connect_far();
  own().drop_reply(testcluster::op::get_children2);
  auto& ours = join(lossy);
  settle(ours.zk);
  BOOST_TEST(own().drops() == 1u);
  BOOST_TEST(!ours.result.done());
  BOOST_TEST(in_line() == 2u);
  release(leader);
  BOOST_TEST_REQUIRE(run_until([&] { return ours.leads(); }));
  release(ours);
}

BOOST_AUTO_TEST_CASE(a_cut_connection_moves_nobody) {
  auto& leader = join();
  auto& first = join(connect_far());
  auto& second = join(connect_far());
  own().cut();
  for (auto* each : {&first, &second}) {
    BOOST_TEST_REQUIRE(run_until([&] { return each->zk.counters().connects == 2; }));
    settle(each->zk);
    BOOST_TEST(!each->result.done());
  }
  release(leader);
  BOOST_TEST_REQUIRE(run_until([&] { return first.leads(); }));
  own().cut();
  BOOST_TEST_REQUIRE(run_until([&] { return second.zk.counters().connects == 3; }));
  release(first);
  BOOST_TEST_REQUIRE(run_until([&] { return second.leads(); }));
  release(second);
}

BOOST_AUTO_TEST_CASE(a_predecessor_that_left_while_we_were_cut_off_is_noticed) {
  auto& leader = join();
  auto& ours = join(connect_far());
  settle(ours.zk);
  disconnect(ours.zk);
  release(leader);
  BOOST_TEST(!ours.result.done());
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return ours.leads(); }));
  release(ours);
}

BOOST_AUTO_TEST_CASE(a_waiter_whose_node_is_removed_is_told) {
  auto& leader = join();
  auto& waiter = join();
  auto& last = join();
  for (const auto& name : children("/e")) {
    if (get("/e/" + name).data.find("\"c1\"") != std::string::npos) remove("/e/" + name);
  }
  BOOST_TEST_REQUIRE(run_until([&] { return waiter.result.done(); }));
  BOOST_TEST(waiter.result.error() == errc::node_removed);
  settle(last.zk);
  BOOST_TEST(!last.result.done());
  release(leader);
  BOOST_TEST_REQUIRE(run_until([&] { return last.leads(); }));
  release(last);
}

BOOST_AUTO_TEST_CASE(an_owner_whose_node_is_removed_is_told) {
  auto& leader = join();
  BOOST_TEST_REQUIRE(run_until([&] { return leader.leads(); }));
  recorder<> lost(executor());
  leader.held().async_lost(lost.token());
  settle(leader.zk);
  remove(leader.held().path());
  BOOST_TEST_REQUIRE(run_until([&] { return lost.done(); }));
  BOOST_TEST(lost.error() == errc::node_removed);
  BOOST_TEST(leader.held().error() == errc::node_removed);
  BOOST_TEST((leader.held().valid_until() == lease_clock::time_point{}));
}

BOOST_AUTO_TEST_CASE(a_waiter_whose_session_expires_is_told) {
  auto& leader = join();
  auto& waiter = join();
  cluster().expire(waiter.zk.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return waiter.result.done(); }));
  BOOST_TEST(waiter.result.error() == errc::session_expired);
  release(leader);
}

BOOST_AUTO_TEST_CASE(what_an_expired_owner_fenced_is_refused) {
  auto& leader = join();
  auto& next = join();
  BOOST_TEST_REQUIRE(run_until([&] { return leader.leads(); }));
  const auto fenced = leader.held().fenced(transaction().create("/late"));
  recorder<> lost(executor());
  leader.held().async_lost(lost.token());
  cluster().expire(leader.zk.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return lost.done() && next.leads(); }));
  BOOST_TEST(lost.error() == errc::session_expired);
  auto late = run(leader.zk.async_commit(fenced, tuple));
  BOOST_TEST(std::get<0>(late) == errc::no_node);
  BOOST_TEST(leader.zk.status().incarnation == 2u);
  auto own_effect = next.held().fenced(transaction().create("/in-time").remove("/in-time"));
  auto good = run(next.zk.async_commit(own_effect, tuple));
  BOOST_TEST(!std::get<0>(good), std::get<0>(good).message());
  BOOST_TEST(next.held().token() > leader.held().token());
  release(next);
}

BOOST_AUTO_TEST_CASE(an_owner_that_hears_nothing_stops_believing_before_the_server_does) {
  auto with = far_options();
  with.timeout = 2s;
  auto& leader = join(connect_far(with));
  auto& next = join();
  BOOST_TEST_REQUIRE(run_until([&] { return leader.leads(); }));
  recorder<> lost(executor());
  leader.held().async_lost(lost.token());
  // Asked of the clock, not of the order of the two completions: a process that was not run for a while gets both at
  // once.
  bool believes = true;
  next.result.on_completion([&] { believes = leader.held().valid_until() > lease_clock::now(); });
  own().freeze(true);
  BOOST_TEST_REQUIRE(run_until([&] { return lost.done(); }));
  BOOST_TEST(lost.error() == errc::lease_lapsed);
  BOOST_TEST_REQUIRE(run_until([&] { return next.leads(); }));
  BOOST_TEST(!believes);
  own().freeze(false);
  release(next);
}

BOOST_AUTO_TEST_CASE(closing_the_session_ends_what_it_owns) {
  auto& leader = join();
  auto& waiter = join(leader.zk);
  BOOST_TEST_REQUIRE(run_until([&] { return leader.leads(); }));
  recorder<> lost(executor());
  leader.held().async_lost(lost.token());
  auto closed = run(leader.zk.async_close(tuple));
  BOOST_TEST(!std::get<0>(closed));
  BOOST_TEST_REQUIRE(run_until([&] { return lost.done() && waiter.result.done(); }));
  BOOST_TEST(lost.error() == errc::closed);
  BOOST_TEST(waiter.result.error() == errc::closed);
}

BOOST_AUTO_TEST_SUITE_END()
