// The gate of many processes, on real servers.
#include <algorithm>
#include <deque>
#include <functional>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/flow/shared_gate.hpp>
#include <zkrecipes/lock.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

namespace {

struct shared_gate_case : ensemble_case {
  shared_gate_case() : one(connect()), two(connect()) { leaves("/gate"), leaves("/gate/0"); }
  void teardown() {
    waiting.clear();
    one = session();
    two = session();
    ensemble_case::teardown();
  }

  static shared_gate_options single() {
    shared_gate_options made;
    made.buckets = 1;
    return made;
  }
  recorder<shared_gate_pass>& enters(const session& by, const std::string& key, arrival how = arrival::first) {
    waiting.emplace_back(executor());
    shared_gate(by, "/gate", single()).async_enter(key, how, waiting.back().token());
    return waiting.back();
  }
  /// Enters, and waits until the node stands: the order of calls of several sessions is that of their nodes.
  recorder<shared_gate_pass>& stands(const session& by, const std::string& key, arrival how = arrival::first) {
    const auto before = there();
    auto& entry = enters(by, key, how);
    BOOST_TEST_REQUIRE(run_until([&] { return entry.done() || there() > before; }));
    return entry;
  }
  std::size_t there() { return exists("/gate/0") ? children("/gate/0").size() : 0; }
  bool ends(recorder<shared_gate_pass>& which) {
    return run_until([&] { return which.done(); });
  }
  shared_gate_pass gets_in(recorder<shared_gate_pass>& which) {
    BOOST_TEST_REQUIRE(ends(which));
    BOOST_TEST_REQUIRE(!which.error(), which.error().message());
    return std::move(which.result<0>());
  }
  void is_declined(recorder<shared_gate_pass>& which) {
    BOOST_TEST_REQUIRE(ends(which));
    BOOST_TEST((which.error() == errc::declined), which.error().message());
  }
  error_code commit(session& by, transaction all) { return std::get<0>(run(by.async_commit(std::move(all), tuple))); }
  void is_empty() {
    BOOST_TEST(run_until([&] { return there() == 0; }));
  }

  session one, two;
  std::deque<recorder<shared_gate_pass>> waiting;
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
  is_empty();
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
  is_empty();
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
    BOOST_TEST_REQUIRE(ends(each));
    passes += each.error() ? 0 : 1;
    if (each.error()) BOOST_TEST((each.error() == errc::declined), each.error().message());
  }
  BOOST_TEST(passes == 2);  // the first one, and the one that waited
  waiting.clear();
  is_empty();
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
  BOOST_TEST_REQUIRE(ends(lost));
  BOOST_TEST(is_loss(lost.error()), lost.error().message());
  next = shared_gate_pass();
  is_empty();
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
  is_empty();
}

BOOST_AUTO_TEST_CASE(a_pass_that_takes_too_long_is_lost) {
  auto with = single();
  with.safety = 200ms;
  auto entry = recorder<shared_gate_pass>(executor());
  shared_gate(one, "/gate", with).async_enter("k", arrival::first, entry.token());
  auto pass = gets_in(entry);
  auto next = gets_in(enters(two, "k"));
  BOOST_TEST((pass.error() == errc::revoked), pass.error().message());
  BOOST_TEST(!pass.valid());
  BOOST_TEST((commit(one, pass.leaving(transaction().create("/effect"))) == errc::no_node));
  next = shared_gate_pass();
  is_empty();
}

BOOST_AUTO_TEST_CASE(a_bucket_that_was_deleted_is_made_again) {
  auto pass = gets_in(enters(one, "k"));
  auto& second = stands(two, "k");
  for (int i = 0; i < 4; ++i)
    settle(two);  // the replies to its create, to its list, and to its looks at its node and the one ahead
  auto all = children("/gate/0");
  std::ranges::sort(all, std::greater(), [](const std::string& each) { return each.substr(each.size() - 10); });
  for (const auto& each : all) remove("/gate/0/" + each);  // the last one first: else it would get in
  BOOST_TEST_REQUIRE(ends(second));
  BOOST_TEST((second.error() == errc::node_removed), second.error().message());
  remove("/gate/0");
  auto next = gets_in(enters(two, "k"));
  BOOST_TEST(run_until([&] { return pass.error() == errc::node_removed; }));
  next = shared_gate_pass();
  is_empty();
}

BOOST_AUTO_TEST_CASE(foreign_nodes_are_ignored_unless_they_are_of_another_recipe) {
  create("/gate");
  create("/gate/0");
  create("/gate/0/anything");
  gets_in(enters(one, "k")) = shared_gate_pass();
  BOOST_TEST(run_until([&] { return there() == 1; }));
  auto held = std::get<1>(run(lock(one, "/gate/0").async_acquire(tuple)));
  auto& refused = enters(two, "k");
  BOOST_TEST_REQUIRE(ends(refused));
  BOOST_TEST((refused.error() == errc::foreign_data), refused.error().message());
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
  BOOST_TEST_REQUIRE(ends(second));
  BOOST_TEST((second.error() == boost::asio::error::operation_aborted));
  BOOST_TEST(run_until([&] { return there() == 1; }));
  auto& third = stands(two, "k");
  settle(two);
  BOOST_TEST(!third.done(), "nobody else waits");
  pass = shared_gate_pass();
  auto next = gets_in(third);
  next = shared_gate_pass();
  is_empty();
}

BOOST_AUTO_TEST_CASE(entering_costs_one_write_and_declining_two) {
  request_log seen;
  auto with = options();
  with.trace = seen.hook();
  auto traced = connect(with);
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
