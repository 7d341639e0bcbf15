// The gate of many processes, on real servers.
#include <algorithm>
#include <deque>
#include <functional>

#include <zkrecipes/flow/shared_gate.hpp>
#include <zkrecipes/lock.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/gate_callers.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct shared_gate_case : gate_callers {
  void is_declined(recorder<shared_gate_pass>& which) { BOOST_TEST_REQUIRE(ends_with(which, errc::declined)); }
  error_code commit(session& by, transaction all) { return std::get<0>(run(by.async_commit(std::move(all), tuple))); }

  session& one = add();
  session& two = add();
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_gate_lines, shared_gate_case)

BOOST_AUTO_TEST_CASE(one_processes_one_waits_and_the_others_are_declined) {
  auto pass = gets_in(enters(one, "k"));
  auto& second = stands(two, "k");
  is_declined(enters(one, "k"));
  is_declined(enters(two, "k"));
  BOOST_TEST(!second.done());
  BOOST_TEST(there() == 2u);
  auto other = gets_in(enters(two, "another key"));
  BOOST_TEST(!std::get<0>(run(pass.async_leave(tuple))));
  auto next = gets_in(second);
  BOOST_TEST(next.token() > pass.token());
  next = shared_gate_pass();
  other = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(the_end_of_a_pass_rides_in_the_transaction) {
  auto pass = gets_in(enters(one, "k"));
  auto& second = stands(two, "k");
  BOOST_TEST(!commit(one, pass.leaving(transaction().create("/effect"))));
  auto next = gets_in(second);
  BOOST_TEST(exists("/effect"));
  BOOST_TEST((commit(one, pass.leaving(transaction().remove("/effect"))) == errc::no_node));
  BOOST_TEST(exists("/effect"));
  remove("/effect");
  next = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(many_callers_of_two_sessions_need_two_processings) {
  auto pass = gets_in(enters(one, "k"));
  for (int i = 0; i < 50; ++i) enters(i % 2 == 0 ? one : two, "k");
  const auto all_but_one = [&] {
    return std::ranges::count_if(waiting, [](const auto& each) { return each.done(); }) == 50;
  };
  BOOST_TEST_REQUIRE(run_until(all_but_one));
  BOOST_TEST(there() == 2u);
  pass = shared_gate_pass();
  int passes = 0;
  for (auto& each : waiting) {
    BOOST_TEST_REQUIRE(run_until([&] { return each.done(); }));
    passes += each.error() ? 0 : 1;
    if (each.error()) BOOST_TEST((each.error() == errc::declined), each.error().message());
  }
  BOOST_TEST(passes == 2);  // the first one, and the one that waited
  waiting.clear();
}

BOOST_AUTO_TEST_CASE(a_redelivered_message_waits_behind_the_node_of_its_dead_process) {
  auto pass = gets_in(enters(one, "k"));
  auto dead = connect_far();
  auto& lost = stands(dead, "k");
  disconnect(dead);  // the broker hands its message out again, and its node still stands
  auto& again = stands(two, "k", arrival::redelivered);
  pass = shared_gate_pass();
  settle(two);
  BOOST_TEST(!again.done());
  cluster().expire(dead.status().session_id);
  auto next = gets_in(again);
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return lost.done(); }));
  BOOST_TEST(is_loss(lost.error()), lost.error().message());
  next = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(a_pass_whose_node_was_removed_commits_nothing) {
  auto pass = gets_in(enters(one, "k"));
  auto& second = stands(two, "k");
  remove(pass.path());
  auto next = gets_in(second);
  BOOST_TEST((commit(one, pass.leaving(transaction().create("/effect"))) == errc::no_node));
  BOOST_TEST(!exists("/effect"));
  BOOST_TEST(run_until([&] { return pass.error() == errc::node_removed; }));
  next = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(a_pass_that_takes_too_long_is_lost) {
  auto with = single();
  with.safety = 200ms;
  auto entry = shared_gate(one, "/gate", with).async_enter("k", arrival::first, recorded());
  auto pass = gets_in(entry);
  auto next = gets_in(enters(two, "k"));
  BOOST_TEST((pass.error() == errc::revoked), pass.error().message());
  BOOST_TEST(!pass.valid());
  BOOST_TEST((commit(one, pass.leaving(transaction().create("/effect"))) == errc::no_node));
  next = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(a_bucket_that_was_deleted_is_made_again) {
  auto pass = gets_in(enters(one, "k"));
  auto& second = stands(two, "k");
  for (int i = 0; i < 4; ++i)
    settle(two);  // the replies to its create, to its list, and to its looks at its node and the one ahead
  auto all = children("/gate/0");
  std::ranges::sort(all, std::greater(), [](const std::string& each) { return each.substr(each.size() - 10); });
  for (const auto& each : all) remove("/gate/0/" + each);  // the last one first: else it would get in
  BOOST_TEST_REQUIRE(ends_with(second, errc::node_removed));
  remove("/gate/0");
  auto next = gets_in(enters(two, "k"));
  BOOST_TEST(run_until([&] { return pass.error() == errc::node_removed; }));
  next = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(foreign_nodes_are_ignored_unless_they_are_of_another_recipe) {
  create("/gate");
  create("/gate/0");
  create("/gate/0/anything");
  gets_in(enters(one, "k")) = shared_gate_pass();
  BOOST_TEST(run_until([&] { return there() == 1; }));
  auto held = std::get<1>(run(lock(one, "/gate/0").async_acquire(tuple)));
  auto& refused = enters(two, "k");
  BOOST_TEST_REQUIRE(ends_with(refused, errc::foreign_data));
  BOOST_TEST(!std::get<0>(run(held.async_release(tuple))));
  BOOST_TEST(run_until([&] { return there() == 1; }));
  auto pass = gets_in(enters(two, "k"));
  BOOST_TEST((std::get<0>(run(lock(one, "/gate/0").async_acquire(tuple))) == errc::foreign_data));
  pass = shared_gate_pass();
  BOOST_TEST(run_until([&] { return there() == 1; }));
  remove("/gate/0/anything");
}

BOOST_AUTO_TEST_CASE(a_create_that_was_not_heard_of_does_not_stay) {
  gets_in(enters(one, "k")) = shared_gate_pass();  // the bucket is there
  is_empty();
  auto far = connect_far();
  own().drop_reply(testcluster::op::create2);
  auto pass = gets_in(enters(far, "k"));
  BOOST_TEST(own().drops() == 1u);
  BOOST_TEST(run_until([&] { return there() == 1; }));
  BOOST_TEST("/gate/0/" + children("/gate/0").front() == pass.path());
  pass = shared_gate_pass();
  is_empty();
  far = session();
}

BOOST_AUTO_TEST_CASE(a_decline_that_was_not_heard_of_is_asked_for_again) {
  auto pass = gets_in(enters(one, "k"));
  auto& second = stands(two, "k");
  auto far = connect_far();
  own().drop_reply(testcluster::op::multi);
  is_declined(enters(far, "k"));
  BOOST_TEST(own().drops() == 1u);
  BOOST_TEST(there() == 2u);
  pass = shared_gate_pass();
  auto next = gets_in(second);
  next = shared_gate_pass();
  is_empty();
  far = session();
}

BOOST_AUTO_TEST_CASE(a_cancelled_caller_leaves_no_node) {
  auto pass = gets_in(enters(one, "k"));
  auto& second = stands(two, "k");
  second.cancel();
  BOOST_TEST_REQUIRE(ends_with(second, boost::asio::error::operation_aborted));
  BOOST_TEST(run_until([&] { return there() == 1; }));
  auto& third = stands(two, "k");
  settle(two);
  BOOST_TEST(!third.done(), "nobody else waits");
  pass = shared_gate_pass();
  auto next = gets_in(third);
  next = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(entering_costs_one_write_and_declining_two) {
  request_log seen;
  auto traced = seen.connect(*this);
  gets_in(enters(one, "k")) = shared_gate_pass();
  is_empty();
  settle(traced);
  seen.clear();
  auto pass = gets_in(enters(traced, "k"));
  BOOST_TEST(seen.count("create") == 1);
  BOOST_TEST(seen.count("children") == 1);
  BOOST_TEST(seen.count("multi") == 1, "the catch-up of the look at the gate");
  auto& second = stands(two, "k");
  seen.clear();
  is_declined(enters(traced, "k"));
  BOOST_TEST(seen.count("create") == 1);
  BOOST_TEST(seen.count("children") == 1);
  BOOST_TEST(seen.count("multi") == 2, "that, and the transaction");
  pass = shared_gate_pass();
  auto next = gets_in(second);
  next = shared_gate_pass();
  is_empty();
  traced = session();
}

BOOST_AUTO_TEST_SUITE_END()

// The node of a caller is removed, its session ends, and replies are lost, in each of its states.
namespace {

/// Three stand in a line: one processes, one waits, and a redelivered message waits behind it.
struct gate_line : gate_callers {
  void teardown() {
    pass = shared_gate_pass();
    gate_callers::teardown();
  }
  void form() {
    for (int i = 0; i < 3; ++i) add();
    pass = gets_in(enters(sessions[0], "k"));
    second = &stands(sessions[1], "k");
    third = &stands(sessions[2], "k", arrival::redelivered);
    wait([&] { return there() == 3; });
    for (auto& each : sessions) settle(each);
  }
  void take_away(std::size_t place) { remove(std::string(bucket) + '/' + line()[place]); }
  void expire(std::size_t which) { cluster().expire(sessions[which].status().session_id); }
  void is_lost(shared_gate_pass& which, errc why) {
    wait([&] { return static_cast<bool>(which.error()); });
    BOOST_TEST((which.error() == why), which.error().message());
    BOOST_TEST(!which.valid());
  }
  /// The nodes of a session go together, but are told one after the other. The caller fails; or, if it is told of the
  /// node ahead first, it has a pass that is lost.
  void gets_in_for_nothing(recorder<shared_gate_pass>& which, errc why) {
    wait([&] { return which.done(); });
    if (which.error()) return fails(which, why);
    wait([&] { return static_cast<bool>(which.result<0>().error()); });
    const auto error = which.result<0>().error();
    BOOST_TEST((error == why || error == errc::node_removed), error.message());
  }
  /// What rides in the end of a lost pass is not done.
  void commits_nothing(session& by, const shared_gate_pass& lost) {
    const auto all = lost.leaving(transaction().create("/effect"));
    BOOST_TEST((std::get<0>(run(by.async_commit(all, tuple))) == errc::no_node));
    BOOST_TEST(!exists("/effect"));
  }

  shared_gate_pass pass;
  recorder<shared_gate_pass>* second = nullptr;
  recorder<shared_gate_pass>* third = nullptr;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_gate_losses, gate_line)

BOOST_AUTO_TEST_CASE(the_node_of_the_one_that_processes_is_removed) {
  form();
  take_away(0);
  is_lost(pass, errc::node_removed);
  auto next = gets_in(*second);
  commits_nothing(sessions[0], pass);
  BOOST_TEST(!third->done());
  next = shared_gate_pass();
  auto last = gets_in(*third);
  last = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(the_node_of_the_one_that_waits_is_removed) {
  form();
  take_away(1);
  fails(*second, errc::node_removed);
  for (auto& each : sessions) settle(each);
  BOOST_TEST(!third->done(), "the one that it waits for has gone, and another one is ahead");
  BOOST_TEST(pass.valid());
  pass = shared_gate_pass();
  auto last = gets_in(*third);
  last = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(the_node_of_a_redelivered_message_that_waits_is_removed) {
  form();
  take_away(2);
  fails(*third, errc::node_removed);
  BOOST_TEST(!second->done());
  pass = shared_gate_pass();
  auto next = gets_in(*second);
  next = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(the_session_of_the_one_that_processes_ends) {
  form();
  expire(0);
  is_lost(pass, errc::session_expired);
  auto next = gets_in(*second);
  wait([&] { return sessions[0].status().state == session_state::connected; });
  commits_nothing(sessions[0], pass);
  BOOST_TEST(!third->done());
  next = shared_gate_pass();
  auto last = gets_in(*third);
  last = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(the_session_of_the_one_that_waits_ends) {
  form();
  expire(1);
  fails(*second, errc::session_expired);
  for (auto& each : sessions) settle(each);
  BOOST_TEST(!third->done(), "the one that it waits for has gone, and another one is ahead");
  auto& again = stands(sessions[1], "k", arrival::redelivered);
  pass = shared_gate_pass();
  auto next = gets_in(*third);
  next = shared_gate_pass();
  auto last = gets_in(again);
  last = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(a_session_with_callers_in_all_states_ends) {
  auto& one = add();
  auto& two = add();
  pass = gets_in(enters(one, "k"));
  second = &stands(one, "k");
  third = &stands(one, "k", arrival::redelivered);
  auto& behind = stands(two, "k", arrival::redelivered);
  settle(one);
  expire(0);
  is_lost(pass, errc::session_expired);
  gets_in_for_nothing(*second, errc::session_expired);
  gets_in_for_nothing(*third, errc::session_expired);
  auto next = gets_in(behind);
  BOOST_TEST(there() == 1u);
  next = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(the_reply_of_a_create_is_lost_while_another_one_processes) {
  auto& one = add();
  pass = gets_in(enters(one, "k"));
  auto& far = add(connect_far());
  own().drop_reply(testcluster::op::create2);
  auto& entry = enters(far, "k");
  wait([&] { return own().drops() == 1; });
  wait([&] { return there() == 2 && line()[1].find("-again-gate-") != std::string::npos; });
  BOOST_TEST(!entry.done(), "it is not declined in favour of the node that it has left");
  pass = shared_gate_pass();
  auto next = gets_in(entry);
  BOOST_TEST(std::string(bucket) + '/' + line()[0] == next.path());
  BOOST_TEST(there() == 1u);
  next = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(the_reply_of_a_create_is_lost_while_one_processes_and_one_waits) {
  auto& one = add();
  pass = gets_in(enters(one, "k"));
  auto& waits = stands(one, "k");
  auto& far = add(connect_far());
  own().drop_reply(testcluster::op::create2);
  auto& entry = enters(far, "k");
  wait([&] { return own().drops() == 1; });
  wait([&] { return there() == 3 && line()[2].find("-again-gate-") != std::string::npos; });
  BOOST_TEST(!entry.done());
  pass = shared_gate_pass();
  auto next = gets_in(waits);
  BOOST_TEST(!entry.done());
  next = shared_gate_pass();
  auto last = gets_in(entry);
  last = shared_gate_pass();
}

BOOST_AUTO_TEST_CASE(the_reply_of_the_create_of_the_gate_itself_is_lost) {
  auto& far = add(connect_far());
  own().drop_reply(testcluster::op::create2);
  auto entered = gets_in(enters(far, "k"));
  BOOST_TEST(own().drops() == 1u);
  BOOST_TEST(get(gate_path).data == R"({"zkrecipes":"shared_gate","buckets":1})");
  BOOST_TEST(there() == 1u);
  entered = shared_gate_pass();
}

BOOST_AUTO_TEST_SUITE_END()
