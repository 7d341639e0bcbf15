// The number of buckets of a shared gate, which its node tells.
#include "unit/shared_gate_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(shared_gate_roots, shared_gate_case)

BOOST_AUTO_TEST_CASE(the_number_of_buckets_is_compared_once) {
  enter();
  create(7);
  list({own});
  own_node_is_there();
  BOOST_TEST_REQUIRE(entry.done());
  auto copy = gate;
  auto next = record<shared_gate_pass>();
  copy.async_enter("another", arrival::first, next.token());
  settle();
  BOOST_TEST(pending().size() == 2u);
  BOOST_TEST(pending().front().starts_with("create /g/0/"));
  BOOST_TEST(pending().back() == "children /g/0");
}

BOOST_AUTO_TEST_CASE(callers_that_come_together_share_the_look) {
  auto next = record<shared_gate_pass>();
  gate.async_enter("k", arrival::first, entry.token());
  gate.async_enter("another", arrival::first, next.token());
  settle();
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
  BOOST_TEST_REQUIRE(entry.done());
  BOOST_TEST((entry.error() == errc::no_node), entry.error().message());
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
    BOOST_TEST_REQUIRE(each.done());
    BOOST_TEST((each.error() == errc::no_auth), each.error().message());
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
  BOOST_TEST_REQUIRE(entry.done());
  BOOST_TEST((entry.error() == errc::size_mismatch), entry.error().message());
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
  BOOST_TEST_REQUIRE(entry.done());
  BOOST_TEST((entry.error() == errc::size_mismatch), entry.error().message());
  BOOST_TEST(why.text() ==
             "shared gate /g: it has 64 buckets, and was opened here with 1: set shared_gate_options::buckets to 64, "
             "or remove the node with its buckets while no process uses the gate");
  CHECK_PENDING();
  auto next = record<shared_gate_pass>();
  gate.async_enter("k", arrival::first, next.token());
  settle();
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
    BOOST_TEST_REQUIRE(entry.done());
    BOOST_TEST((entry.error() == errc::foreign_data), entry.error().message());
    BOOST_TEST(why.text() == text);
    CHECK_PENDING();
    entry = record<shared_gate_pass>();
  };
  const auto enter_empty = [&](std::int64_t owner) {
    gate.async_enter("k", arrival::first, why, entry.token());
    settle();
    look();
    backend::reply node;
    node.stat.ephemeral_owner = owner;
    answer(node);
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
  BOOST_TEST_REQUIRE(entry.done());
  BOOST_TEST((entry.error() == errc::size_mismatch), entry.error().message());
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
  BOOST_TEST_REQUIRE(entry.done());
  BOOST_TEST((entry.error() == errc::foreign_data), entry.error().message());
  BOOST_TEST(why.text().find("another client has made this node anew") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_root_is_no_path_of_a_gate) {
  BOOST_CHECK_THROW(shared_gate(zk, "/", options()), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_cancelled_caller_leaves_the_look_to_the_others) {
  auto next = record<shared_gate_pass>();
  gate.async_enter("k", arrival::first, entry.token());
  gate.async_enter("another", arrival::first, next.token());
  settle();
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
  auto next = record<shared_gate_pass>();
  gate.async_enter("k", arrival::first, entry.token());
  gate.async_enter("another", arrival::first, next.token());
  settle();
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
