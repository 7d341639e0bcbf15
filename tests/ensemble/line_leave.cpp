// A member leaves no node behind, in whatever way it leaves.
#include "ensemble/campaigner.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(line_leave, line_fixture)

using asio::cancellation_type;
const std::vector<cancellation_type> cancellations{cancellation_type::total, cancellation_type::partial,
                                                   cancellation_type::terminal};

BOOST_AUTO_TEST_CASE(a_waiter_that_is_cancelled_is_gone) {
  auto& leader = join();
  for (auto type : cancellations) {
    auto& waiter = join();
    waiter.result.cancel(type);
    BOOST_TEST_REQUIRE(run_until([&] { return waiter.result.done(); }));
    BOOST_TEST(waiter.result.error() == asio::error::operation_aborted);
    BOOST_TEST(run_until([&] { return in_line() == 1; }));
  }
  release(leader);
}

BOOST_AUTO_TEST_CASE(so_is_one_that_is_cancelled_at_once) {
  auto& leader = join();
  for (auto type : cancellations) {
    campaigner hasty(*this, connect(), "hasty");
    server_of(hasty.zk);
    hasty.start();
    hasty.result.cancel(type);
    BOOST_TEST_REQUIRE(run_until([&] { return hasty.result.done(); }));
    BOOST_TEST(hasty.result.error() == asio::error::operation_aborted);
    settle(hasty.zk);
    BOOST_TEST(run_until([&] { return in_line() == 1; }));
  }
  release(leader);
}

BOOST_AUTO_TEST_CASE(so_is_one_whose_create_is_on_its_way) {
  auto& leader = join();
  for (auto type : cancellations) {
    campaigner hasty(*this, connect(), "hasty");
    const int server = server_of(hasty.zk);
    settle(hasty.zk);
    const auto before = hasty.zk.counters().requests;
    cluster().proxy(server).freeze(true);
    hasty.start();
    BOOST_TEST_REQUIRE(run_until([&] { return hasty.zk.counters().requests == before + 2; }));
    hasty.result.cancel(type);
    BOOST_TEST_REQUIRE(run_until([&] { return hasty.result.done(); }));
    BOOST_TEST(hasty.result.error() == asio::error::operation_aborted);
    cluster().proxy(server).freeze(false);
    settle(hasty.zk);
    BOOST_TEST(run_until([&] { return in_line() == 1; }));
  }
  release(leader);
}

BOOST_AUTO_TEST_CASE(a_cancelled_wait_for_a_connection_ends) {
  campaigner far(*this, connect_far(), "far");
  disconnect(far.zk);
  far.start();
  far.result.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return far.result.done(); }));
  BOOST_TEST(far.result.error() == asio::error::operation_aborted);
  reconnect();
}

BOOST_AUTO_TEST_CASE(a_release_without_a_connection_is_done_after_it_is_back) {
  auto& leader = join(connect_far());
  auto& next = join();
  BOOST_TEST_REQUIRE(run_until([&] { return leader.leads(); }));
  disconnect(leader.zk);
  release(leader);
  BOOST_TEST(leader.held().error() == errc::closed);
  BOOST_TEST(in_line() == 2u);
  BOOST_TEST(!next.result.done());
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return next.leads(); }));
  release(next);
}

BOOST_AUTO_TEST_CASE(a_release_whose_reply_is_lost_is_done) {
  for (bool executed : {true, false}) {
    auto& leader = join(connect_far());
    BOOST_TEST_REQUIRE(run_until([&] { return leader.leads(); }));
    executed ? own().drop_reply(testcluster::op::remove) : own().drop_request(testcluster::op::remove);
    release(leader);
    BOOST_TEST(run_until([&] { return in_line() == 0; }));
  }
  BOOST_TEST(own().drops() == 2u);
}

BOOST_AUTO_TEST_CASE(an_ownership_that_goes_out_of_scope_is_released) {
  auto& next = [&]() -> campaigner& {
    campaigner leader(*this, connect(), "short-lived");
    leader.start();
    BOOST_TEST_REQUIRE(run_until([&] { return leader.leads(); }));
    auto& waiter = join();
    ownership taken = std::move(leader.held());
    BOOST_TEST(leader.held().error() == errc::closed);
    BOOST_TEST(!taken.error());
    return waiter;
  }();
  BOOST_TEST_REQUIRE(run_until([&] { return next.leads(); }));
  release(next);
}

BOOST_AUTO_TEST_CASE(a_second_release_does_no_harm) {
  auto& leader = join();
  BOOST_TEST_REQUIRE(run_until([&] { return leader.leads(); }));
  release(leader);
  release(leader);
  BOOST_TEST_REQUIRE(run_until([&] { return in_line() == 0; }));
}

BOOST_AUTO_TEST_CASE(the_owner_is_asked_to_give_it_up) {
  auto& leader = join();
  BOOST_TEST_REQUIRE(run_until([&] { return leader.leads(); }));
  recorder<> asked(executor());
  leader.held().async_revoked(asked.token());
  settle(leader.zk);
  BOOST_TEST(!asked.done());
  auto request = run(leader.contest.async_request_resignation(tuple));
  BOOST_TEST(!std::get<0>(request), std::get<0>(request).message());
  BOOST_TEST_REQUIRE(run_until([&] { return asked.done(); }));
  BOOST_TEST(asked.error() == errc::revoked);
  BOOST_TEST(!leader.held().error(), "it is asked, not forced");
  release(leader);
  auto nobody = run(leader.contest.async_request_resignation(tuple));
  BOOST_TEST(std::get<0>(nobody) == errc::no_node);
}

BOOST_AUTO_TEST_CASE(a_foreign_owner_is_not_asked_and_keeps_its_data) {
  const std::string foreign = "/e/_c_11111111-2222-4333-8444-555555555555-latch-0000000000";
  election contest(zk(), "/e", {.id = "observer"});
  for (const std::string data : {"10.1.1.0", "", "{broken", R"({"id":"10.1.1.0"})", "\xff\xfe"}) {
    create(foreign, data);
    BOOST_TEST(std::get<0>(run(contest.async_resignation_request(tuple))) == errc::foreign_data, data);
    BOOST_TEST(std::get<0>(run(contest.async_request_resignation(tuple))) == errc::foreign_data, data);
    BOOST_TEST(get(foreign).data == data);
    BOOST_TEST(get(foreign).stat.version == 0);
    remove(foreign);
  }
}

BOOST_AUTO_TEST_SUITE_END()

// Lost replies, removed nodes and expired sessions in a line.

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
