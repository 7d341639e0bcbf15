// The gate of many processes: what is asked for, who is declined, what ends a pass.
#include "shared_gate/shared_gate.hpp"

#include <algorithm>

#include "unit/shared_gate_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(shared_gates, shared_gate_case)

BOOST_AUTO_TEST_CASE(the_first_gets_in_after_one_round_trip) {
  enter();
  BOOST_TEST(pending().size() == 2u);
  create(7);
  list({own});
  BOOST_TEST_REQUIRE(succeeded(entry));
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
  BOOST_TEST_REQUIRE(succeeded(entry));
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
  enter_third();
  BOOST_TEST(!entry.done());
  BOOST_TEST(declining() == (strings{"/g/0/" + own, "/g/0/" + other("a", 4), "/g/0/" + other("b", 5)}),
             boost::test_tools::per_element());
  answer();
  BOOST_TEST_REQUIRE(ended_with(entry, errc::declined));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(the_third_waits_if_the_first_has_left_meanwhile) {
  enter_third();
  refuse_at(1);
  list({other("b", 5), own});
  BOOST_TEST(!entry.done());
  CHECK_PENDING("get /g/0/" + other("b", 5));
}

BOOST_AUTO_TEST_CASE(a_redelivered_message_is_not_declined) {
  enter_third(arrival::redelivered);
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
  enter_third();
  refuse_at(0);
  BOOST_TEST_REQUIRE(ended_with(entry, errc::node_removed));
}

BOOST_AUTO_TEST_CASE(if_the_reply_of_the_transaction_is_lost_and_the_node_stands_it_is_sent_again) {
  enter_third();
  reconnect();
  own_node_is_there();
  list({other("a", 4), other("b", 5), own});
  own_node_is_there();
  BOOST_TEST(declining().front() == "/g/0/" + own);
}

BOOST_AUTO_TEST_CASE(if_the_reply_of_the_transaction_is_lost_and_the_node_has_gone_it_enters_again) {
  enter_third();
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
  answer_with({.stat = {.czxid = 103, .ephemeral_owner = 0x77}});
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
  answer_with({.stat = {.czxid = 103, .ephemeral_owner = 0x77}});
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
  BOOST_TEST_REQUIRE(ended_with(entry, boost::asio::error::operation_aborted));
  CHECK_PENDING("remove /g/0/" + own);
}

BOOST_AUTO_TEST_CASE(a_caller_that_is_cancelled_while_it_is_declined_leaves_nothing) {
  enter_third();
  entry.cancel();
  settle();
  BOOST_TEST_REQUIRE(ended_with(entry, boost::asio::error::operation_aborted));
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

// The number of buckets of a shared gate, which its node tells.
BOOST_FIXTURE_TEST_SUITE(shared_gate_roots, shared_gate_case)

BOOST_AUTO_TEST_CASE(the_number_of_buckets_is_compared_once) {
  enter();
  create(7);
  list({own});
  own_node_is_there();
  BOOST_TEST_REQUIRE(entry.done());
  auto copy = gate;
  auto next = copy.async_enter("another", arrival::first, begun());
  BOOST_TEST(pending().size() == 2u);
  BOOST_TEST(pending().front().starts_with("create /g/0/"));
  BOOST_TEST(pending().back() == "children /g/0");
}

BOOST_AUTO_TEST_CASE(callers_that_come_together_share_the_look) {
  gate.async_enter("k", arrival::first, entry.token());
  auto next = gate.async_enter("another", arrival::first, begun());
  look();
  tell(record_of_one);
  BOOST_TEST(pending().size() == 3u, "two creates and the list that they share");
}

BOOST_AUTO_TEST_CASE(the_first_of_all_callers_writes_the_number_of_buckets) {
  gate.async_enter("k", arrival::first, entry.token());
  settle();
  look();
  fail(errc::no_node);
  CHECK_PENDING("exists /");
  answer();
  CHECK_PENDING("multi /");
  const auto both = answer();
  BOOST_TEST_REQUIRE(both.operations.size() == 2u);
  BOOST_TEST((both.operations[0].type == operation::kind::create));
  BOOST_TEST((both.operations[1].type == operation::kind::set), "its version is never 0");
  for (const auto& each : both.operations) {
    BOOST_TEST(each.path == "/g");
    BOOST_TEST(each.data == record_of_one);
  }
  BOOST_TEST(pending().front().starts_with("create /g/0/"));
}

BOOST_AUTO_TEST_CASE(a_missing_root_of_the_session_is_told_at_once) {
  gate.async_enter("k", arrival::first, entry.token());
  settle();
  look();
  fail(errc::no_node);
  CHECK_PENDING("exists /");
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(entry, errc::no_node));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_node_that_comes_and_goes_is_looked_at_ten_times) {
  gate.async_enter("k", arrival::first, entry.token());
  settle();
  int rounds = 0;
  for (; !entry.done() && rounds < 20; ++rounds) {
    look();
    fail(errc::no_node);
    answer();  // the parent
    fail(errc::node_exists);
  }
  BOOST_TEST(rounds == 10);
  BOOST_TEST((entry.error() == errc::node_exists), entry.error().message());
}

BOOST_AUTO_TEST_CASE(callers_that_wait_when_a_look_begins_share_its_error) {
  std::vector<recorder<shared_gate_pass>> more;
  for (int i = 0; i < 3; ++i) more.push_back(record<shared_gate_pass>());
  gate.async_enter("k", arrival::first, entry.token());
  settle();
  look();
  for (auto& each : more) gate.async_enter("k", arrival::first, each.token());  // these come too late for that look
  settle();
  fail(errc::no_auth);
  BOOST_TEST((entry.error() == errc::no_auth), entry.error().message());
  BOOST_TEST(!more[0].done());
  look();
  fail(errc::no_auth);
  for (auto& each : more) {
    BOOST_TEST_REQUIRE(ended_with(each, errc::no_auth));
  }
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(callers_wait_for_a_connection_for_as_long_as_the_policy_says) {
  lose();
  gate.async_enter("k", arrival::first, entry.token());
  settle();
  advance(29s);
  BOOST_TEST(!entry.done());
  advance(2s);
  BOOST_TEST((entry.error() == errc::connection_loss), entry.error().message());
}

BOOST_AUTO_TEST_CASE(a_path_without_data_gets_the_number_by_its_version) {
  gate.async_enter("k", arrival::first, entry.token());
  settle();
  look();
  tell("", 3);
  list({"0"});
  CHECK_PENDING("set /g");
  BOOST_TEST(last().pending.front().first.data == record_of_one);
  BOOST_TEST(last().pending.front().first.version == 3);
  fail(errc::bad_version);  // somebody was quicker
  look();
  tell(R"({"zkrecipes":"shared_gate","buckets":2})", 4);
  BOOST_TEST_REQUIRE(ended_with(entry, errc::size_mismatch));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_write_whose_reply_was_lost_is_looked_for) {
  for (const bool is_missing : {true, false}) {
    gate = shared_gate(zk, "/g", options());
    entry = record<shared_gate_pass>();
    gate.async_enter("k", arrival::first, entry.token());
    settle();
    look();
    if (is_missing) {
      fail(errc::no_node);
      answer();  // the parent
    } else {
      tell("");
      list({});
    }
    CHECK_PENDING(is_missing ? "multi /" : "set /g");
    reconnect();
    fail(is_missing ? errc::node_exists : errc::bad_version);  // it is sent again
    look();
    tell(record_of_one);
    BOOST_TEST(pending().front().starts_with("create /g/0/"));
    entry.cancel();
    settle();
    while (!pending().empty()) fail(errc::no_node);
  }
}

BOOST_AUTO_TEST_CASE(another_number_of_buckets_is_refused_with_node_numbers_and_cure) {
  gate.async_enter("k", arrival::first, why, entry.token());
  settle();
  look();
  tell(R"({"zkrecipes":"shared_gate","buckets":64})");
  BOOST_TEST_REQUIRE(ended_with(entry, errc::size_mismatch));
  BOOST_TEST(why.text() ==
             "shared gate /g: it has 64 buckets, and was opened here with 1: set shared_gate_options::buckets to 64, "
             "or remove the node with its buckets while no process uses the gate");
  CHECK_PENDING();
  auto next = gate.async_enter("k", arrival::first, begun());
  look();
  tell(record_of_one);
  BOOST_TEST(pending().front().starts_with("create /g/0/"), "it looks again until they agree");
}

BOOST_AUTO_TEST_CASE(a_field_of_a_later_version_is_passed_over) {
  gate.async_enter("k", arrival::first, entry.token());
  settle();
  look();
  tell(R"({"zkrecipes":"shared_gate","buckets":1,"colour":"red"})");
  BOOST_TEST_REQUIRE(!pending().empty());
  BOOST_TEST(pending().front().starts_with("create /g/0/"));
}

BOOST_AUTO_TEST_CASE(foreign_data_is_refused_and_left_as_it_is) {
  const strings foreign{"hello",
                        R"({"zkrecipes":"term","epoch":1})",
                        R"({"zkrecipes":"shared_gate"})",
                        R"({"zkrecipes":"shared_gate","buckets":0})",
                        R"({"zkrecipes":"shared_gate","buckets":1025})",
                        R"({"zkrecipes":"shared_gate","buckets":"1"})"};
  for (const auto& each : foreign) {
    entry = record<shared_gate_pass>();
    gate.async_enter("k", arrival::first, why, entry.token());
    settle();
    look();
    tell(each);
    BOOST_TEST_REQUIRE(entry.done());
    BOOST_TEST((entry.error() == errc::foreign_data), each << ": " << entry.error().message());
    BOOST_TEST(why.text() == "shared gate /g: the data of this node is not of a shared gate: use another path");
    CHECK_PENDING();
  }
}

BOOST_AUTO_TEST_CASE(a_node_of_somebody_else_is_not_claimed) {
  const auto refused = [&](const std::string& text) {
    BOOST_TEST_REQUIRE(ended_with(entry, errc::foreign_data));
    BOOST_TEST(why.text() == text);
    CHECK_PENDING();
    entry = record<shared_gate_pass>();
  };
  const auto enter_empty = [&](std::int64_t owner) {
    gate.async_enter("k", arrival::first, why, entry.token());
    settle();
    look();
    answer_with({.stat = {.ephemeral_owner = owner}});
  };
  enter_empty(5);
  refused("shared gate /g: this node does not stay");
  for (const std::string each : {"config", "00", "-1", "1x", ""}) {
    enter_empty(0);
    list({"0", each});
    refused("shared gate /g: the node has a child that is no bucket, " + each + ": use another path");
  }
}

BOOST_AUTO_TEST_CASE(a_bucket_of_others_that_have_more_of_them_is_seen_before_the_claim) {
  gate.async_enter("k", arrival::first, why, entry.token());
  settle();
  look();
  tell("");
  list({"0", "1"});
  BOOST_TEST_REQUIRE(ended_with(entry, errc::size_mismatch));
  BOOST_TEST(why.text().starts_with("shared gate /g: it has a bucket 1, and was opened here with 1 buckets"),
             why.text());
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_node_that_was_made_anew_while_it_was_claimed_is_told) {
  gate.async_enter("k", arrival::first, why, entry.token());
  settle();
  look();
  tell("", 0, 100);
  list({});
  CHECK_PENDING("set /g");
  tell("", 1, 200);
  BOOST_TEST_REQUIRE(ended_with(entry, errc::foreign_data));
  BOOST_TEST(why.text().find("another client has made this node anew") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_root_is_no_path_of_a_gate) {
  BOOST_CHECK_THROW(shared_gate(zk, "/", options()), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_cancelled_caller_leaves_the_look_to_the_others) {
  gate.async_enter("k", arrival::first, entry.token());
  auto next = gate.async_enter("another", arrival::first, begun());
  entry.cancel();
  settle();
  BOOST_TEST((entry.error() == boost::asio::error::operation_aborted));
  look();
  tell(record_of_one);
  BOOST_TEST_REQUIRE(pending().size() == 2u);
  BOOST_TEST(pending().front().starts_with("create /g/0/"));
  BOOST_TEST(pending().back() == "children /g/0");
}

BOOST_AUTO_TEST_CASE(a_caller_that_is_cancelled_while_the_gate_is_looked_at_leaves_nothing) {
  gate.async_enter("k", arrival::first, entry.token());
  auto next = gate.async_enter("another", arrival::first, begun());
  next.cancel();
  entry.cancel();
  settle();
  BOOST_TEST((entry.error() == boost::asio::error::operation_aborted));
  BOOST_TEST((next.error() == boost::asio::error::operation_aborted));
  look();
  tell(record_of_one);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_SUITE_END()
