// The node of a caller is removed, its session ends, and replies are lost, in each of its states.
#include "ensemble/gate_callers.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

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
  is_empty();
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
  is_empty();
}

BOOST_AUTO_TEST_CASE(the_node_of_a_redelivered_message_that_waits_is_removed) {
  form();
  take_away(2);
  fails(*third, errc::node_removed);
  BOOST_TEST(!second->done());
  pass = shared_gate_pass();
  auto next = gets_in(*second);
  next = shared_gate_pass();
  is_empty();
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
  is_empty();
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
  is_empty();
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
  is_empty();
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
  is_empty();
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
  is_empty();
}

BOOST_AUTO_TEST_CASE(the_reply_of_the_create_of_the_gate_itself_is_lost) {
  auto& far = add(connect_far());
  own().drop_reply(testcluster::op::create2);
  auto entered = gets_in(enters(far, "k"));
  BOOST_TEST(own().drops() == 1u);
  BOOST_TEST(get(gate_path).data == R"({"zkrecipes":"shared_gate","buckets":1})");
  BOOST_TEST(there() == 1u);
  entered = shared_gate_pass();
  is_empty();
}

BOOST_AUTO_TEST_SUITE_END()
