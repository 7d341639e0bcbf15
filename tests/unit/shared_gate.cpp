// The gate of many processes: what is asked for, who is declined, what ends a pass.
#include <algorithm>

#include "shared_gate/gate_entry.hpp"
#include "unit/shared_gate_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(shared_gates, shared_gate_case)

BOOST_AUTO_TEST_CASE(the_first_gets_in_after_one_round_trip) {
  enter();
  BOOST_TEST(pending().size() == 2u);
  create(7);
  list({own});
  BOOST_TEST_REQUIRE(entry.done());
  BOOST_TEST(!entry.error());
  auto& pass = entry.result<0>();
  BOOST_TEST(pass.valid());
  BOOST_TEST(pass.path() == "/g/0/" + own);
  BOOST_TEST(pass.token() == 107);
  CHECK_PENDING("get /g/0/" + own);
}

BOOST_AUTO_TEST_CASE(the_names_never_change) {
  // By another implementation of SipHash-2-4, which agrees with the vectors of the authors.
  const auto first = detail::gate_place("/g", 1024, "k", arrival::first).line();
  const auto again = detail::gate_place("/g", 1024, "k", arrival::redelivered).line();
  BOOST_TEST(first.parent == "/g/373");
  BOOST_TEST(first.marker == "d7df574667d77f4a4521fe2ab7c0ad75-first-gate-");
  BOOST_TEST(again.parent == "/g/373");
  BOOST_TEST(again.marker == "d7df574667d77f4a4521fe2ab7c0ad75-again-gate-");
}

BOOST_AUTO_TEST_CASE(callers_of_other_keys_are_in_nobody_s_way) {
  enter();
  create(7);
  auto elsewhere = other("a", 1);
  elsewhere[5] = elsewhere[5] == '0' ? '1' : '0';
  list({"_c_a-0123456789abcdef0123456789abcdef-first-gate-0000000001", elsewhere, "anything", own});
  BOOST_TEST_REQUIRE(entry.done());
  BOOST_TEST(!entry.error());
}

BOOST_AUTO_TEST_CASE(the_second_waits_for_the_first_only) {
  enter();
  create(7);
  list({"_c_a-0123456789abcdef0123456789abcdef-first-gate-0000000006", other("a", 5), own});
  own_node_is_there();
  CHECK_PENDING("get /g/0/" + other("a", 5));
  answer();
  BOOST_TEST(!entry.done());
  fire(backend::change::deleted, "/g/0/" + other("a", 5));
  BOOST_TEST_REQUIRE(entry.done(), "without another look");
  BOOST_TEST(!entry.error());
}

BOOST_AUTO_TEST_CASE(the_third_is_declined_by_a_transaction) {
  enter();
  create(7);
  list({other("a", 4), other("b", 5), own});
  own_node_is_there();
  BOOST_TEST(!entry.done());
  BOOST_TEST(declining() == (strings{"/g/0/" + own, "/g/0/" + other("a", 4), "/g/0/" + other("b", 5)}),
             boost::test_tools::per_element());
  answer();
  BOOST_TEST_REQUIRE(entry.done());
  BOOST_TEST((entry.error() == errc::declined), entry.error().message());
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(the_third_waits_if_the_first_has_left_meanwhile) {
  enter();
  create(7);
  list({other("a", 4), other("b", 5), own});
  own_node_is_there();
  refuse_at(1);
  list({other("b", 5), own});
  BOOST_TEST(!entry.done());
  CHECK_PENDING("get /g/0/" + other("b", 5));
}

BOOST_AUTO_TEST_CASE(a_redelivered_message_is_not_declined) {
  enter(arrival::redelivered);
  create(7);
  list({other("a", 4), other("b", 5), own});
  own_node_is_there();
  CHECK_PENDING("get /g/0/" + other("b", 5));
  answer();
  fire(backend::change::deleted, "/g/0/" + other("b", 5));
  CHECK_PENDING("children /g/0");
}

BOOST_AUTO_TEST_CASE(a_redelivered_message_covers_nobody) {
  enter();
  create(7);
  list({other("a", 4), other("b", 5, "again"), own});
  own_node_is_there();
  CHECK_PENDING("get /g/0/" + other("b", 5, "again"));
}

BOOST_AUTO_TEST_CASE(an_operator_who_removes_the_node_of_one_to_be_declined_is_noticed) {
  enter();
  create(7);
  list({other("a", 4), other("b", 5), own});
  own_node_is_there();
  refuse_at(0);
  BOOST_TEST_REQUIRE(entry.done());
  BOOST_TEST((entry.error() == errc::node_removed), entry.error().message());
}

BOOST_AUTO_TEST_CASE(if_the_reply_of_the_transaction_is_lost_and_the_node_stands_it_is_sent_again) {
  enter();
  create(7);
  list({other("a", 4), other("b", 5), own});
  own_node_is_there();
  reconnect();
  own_node_is_there();
  list({other("a", 4), other("b", 5), own});
  own_node_is_there();
  BOOST_TEST(declining().front() == "/g/0/" + own);
}

BOOST_AUTO_TEST_CASE(if_the_reply_of_the_transaction_is_lost_and_the_node_has_gone_it_enters_again) {
  enter();
  create(7);
  list({other("a", 4), other("b", 5), own});
  own_node_is_there();
  reconnect();
  const auto before = own;
  // In either order: the guard looks at the node, and the line is listed.
  for (int i = 0; i < 4 && !pending().empty() && !pending().front().starts_with("create "); ++i) {
    if (pending().front() == "children /g/0") list({other("b", 5)});
    if (!pending().empty() && pending().front() == "get /g/0/" + before) fail(errc::no_node);
  }
  BOOST_TEST(!entry.done(), entry.error().message());
  create(8);
  BOOST_TEST(own != before);
  list({other("b", 5), own});
  own_node_is_there();
  CHECK_PENDING("get /g/0/" + other("b", 5));
}

BOOST_AUTO_TEST_CASE(a_place_that_may_have_a_second_node_is_given_up) {
  enter();
  const auto asked = last().pending.front().first.path.substr(5);
  reconnect();
  list({asked + "0000000003"});
  backend::reply found;
  found.stat.ephemeral_owner = 0x77;
  found.stat.czxid = 103;
  answer(found);
  BOOST_TEST(!entry.done());
  bool is_removed = false;
  for (const auto& each : pending()) is_removed = is_removed || each == "remove /g/0/" + asked + "0000000003";
  BOOST_TEST(is_removed);
}

BOOST_AUTO_TEST_CASE(a_caller_is_not_declined_in_favour_of_its_own_old_node) {
  enter();
  const auto old = last().pending.front().first.path.substr(5) + "0000000003";
  reconnect();
  list({old});
  backend::reply found;
  found.stat.ephemeral_owner = 0x77;
  found.stat.czxid = 103;
  answer(found);
  own = old;
  own_node_is_there();
  create(8);
  BOOST_TEST(own.find("-again-gate-") != own.npos);
  CHECK_PENDING("remove /g/0/" + old, "children /g/0", "children /g/0");
  throttle();  // the old node stays
  for (int i = 0; i < 2; ++i) list({other("a", 2), old, own});
  BOOST_TEST(std::ranges::count(pending(), "multi /") == 0);
  BOOST_TEST(std::ranges::count(pending(), "get /g/0/" + old) == 1);
  BOOST_TEST(!entry.done());
}

BOOST_AUTO_TEST_CASE(a_pass_is_lost_when_it_has_taken_too_long) {
  enter();
  create(7);
  list({other("a", 5), own});
  own_node_is_there();
  answer();
  live(30min);
  fire(backend::change::deleted, "/g/0/" + other("a", 5));
  BOOST_TEST_REQUIRE(entry.done());
  auto& pass = entry.result<0>();
  live(1h - 1s);
  BOOST_TEST(pass.valid(), "it counts from its own start");
  live(1s);
  BOOST_TEST(!pass.valid());
  BOOST_TEST((pass.error() == errc::revoked), pass.error().message());
  bool is_removed = false;
  for (const auto& each : pending()) is_removed = is_removed || each == "remove /g/0/" + own;
  BOOST_TEST(is_removed);
}

BOOST_AUTO_TEST_CASE(leaving_can_ride_in_a_transaction) {
  enter();
  create(7);
  list({own});
  const auto all = entry.result<0>().leaving(transaction().create("/done"));
  BOOST_TEST_REQUIRE(all.operations().size() == 2u);
  BOOST_TEST((all.operations()[0].type == operation::kind::remove));
  BOOST_TEST(all.operations()[0].path == "/g/0/" + own);
  BOOST_TEST(shared_gate_pass().leaving(transaction()).operations()[0].path == "");
}

BOOST_AUTO_TEST_CASE(a_waiting_caller_that_is_cancelled_leaves_nothing) {
  enter();
  create(7);
  list({other("a", 5), own});
  own_node_is_there();
  answer();
  entry.cancel();
  settle();
  BOOST_TEST_REQUIRE(entry.done());
  BOOST_TEST((entry.error() == boost::asio::error::operation_aborted));
  CHECK_PENDING("remove /g/0/" + own);
}

BOOST_AUTO_TEST_CASE(a_caller_that_is_cancelled_while_it_is_declined_leaves_nothing) {
  enter();
  create(7);
  list({other("a", 4), other("b", 5), own});
  own_node_is_there();
  entry.cancel();
  settle();
  BOOST_TEST_REQUIRE(entry.done());
  BOOST_TEST((entry.error() == boost::asio::error::operation_aborted));
  answer();
  CHECK_PENDING("remove /g/0/" + own);
}

BOOST_AUTO_TEST_CASE(the_end_of_the_session_ends_waiting_and_passes) {
  enter();
  create(7);
  list({own});
  own_node_is_there();
  expire();
  BOOST_TEST(!entry.result<0>().valid());
  BOOST_TEST((entry.result<0>().error() == errc::session_expired));
}

BOOST_AUTO_TEST_CASE(bad_options_are_named) {
  auto made = options();
  made.buckets = 0;
  BOOST_CHECK_THROW(shared_gate(zk, "/g", made), std::invalid_argument);
  made.buckets = 1025;
  BOOST_CHECK_THROW(shared_gate(zk, "/g", made), std::invalid_argument);
  made.buckets = 1024;
  BOOST_CHECK_NO_THROW(shared_gate(zk, "/g", made));
  made.safety = 0s;
  BOOST_CHECK_THROW(shared_gate(zk, "/g", made), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
