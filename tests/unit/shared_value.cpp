// Setting a value: the error that the writer gets if the reply is lost.
#include <zkrecipes/counter.hpp>
#include <zkrecipes/shared_value.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct setting : fake_session {
  setting() : value(zk, "/v"), written(record<node_stat>()) {
    connect();
    value.async_set("x", written.token());
    settle();
    CHECK_PENDING("set /v");
  }
  /// The reply to the write is lost, and the read behind it finds this.
  void find(backend::reply there) {
    reconnect();
    CHECK_PENDING("multi /", "get /v");
    answer();
    answer(std::move(there));
    BOOST_TEST_REQUIRE(written.done());
    CHECK_PENDING();
  }
  static backend::reply holding(std::string data) {
    backend::reply reply;
    reply.data = std::move(data);
    return reply;
  }
  static backend::reply nothing() {
    backend::reply reply;
    reply.error = errc::no_node;
    return reply;
  }

  shared_value value;
  recorder<node_stat> written;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(set_values, setting)

BOOST_AUTO_TEST_CASE(a_set_whose_reply_is_lost_is_not_repeated_where_the_value_has_gone) {
  find(nothing());
  BOOST_TEST((written.error() == errc::outcome_unknown), written.error().message());
}

BOOST_AUTO_TEST_CASE(nor_is_a_first_one) {
  fail(errc::no_node);
  CHECK_PENDING("create /v");
  find(nothing());
  BOOST_TEST((written.error() == errc::outcome_unknown), written.error().message());
}

BOOST_AUTO_TEST_CASE(one_that_is_there_is_done) {
  find(holding("x"));
  BOOST_TEST(!written.error(), written.error().message());
}

BOOST_AUTO_TEST_CASE(one_that_another_may_have_replaced_is_unknown) {
  find(holding("theirs"));
  BOOST_TEST((written.error() == errc::outcome_unknown), written.error().message());
}

BOOST_AUTO_TEST_SUITE_END()

// Additions through one object run one after the other, and none tries for ever.

namespace {

struct counting : connected_session {
  recorder<std::int64_t> add(counter& to) { return to.async_add(1, begun()); }
  void answer_number(const std::string& number) { answer_with({.data = number, .stat = {.czxid = 5, .mzxid = 5}}); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(counters, counting)

BOOST_AUTO_TEST_CASE(an_addition_that_always_meets_others_gives_up) {
  counter ours(zk, "/n", {.max_tries = 3});
  auto adding = add(ours);
  for (int i = 0; i < 3; ++i) {
    CHECK_PENDING("get /n");
    answer_number(std::to_string(i));
    CHECK_PENDING("set /n");
    fail(errc::bad_version);
    BOOST_TEST(adding.done() == (i == 2));
    CHECK_PENDING();
    advance(1s);
  }
  BOOST_TEST_REQUIRE(ended_with(adding, errc::busy));
  CHECK_PENDING();
}

// Each look at it finds nothing, and so does each attempt to make it.
BOOST_AUTO_TEST_CASE(an_addition_below_a_missing_root_is_told_so) {
  counter ours(zk, "/n");
  auto adding = add(ours);
  fail(errc::no_node);
  CHECK_PENDING("create /n");
  fail(errc::no_node);
  while (!pending().empty()) fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(adding, errc::no_node));
}

BOOST_AUTO_TEST_CASE(additions_of_one_object_take_turns) {
  counter ours(zk, "/n");
  std::vector<recorder<std::int64_t>> all;
  for (int i = 0; i < 5; ++i) all.push_back(add(ours));
  all[1].cancel();
  settle();
  BOOST_TEST_REQUIRE(all[1].done());
  for (const std::size_t each : {0, 2, 3, 4}) {
    CHECK_PENDING("get /n");
    answer_number("7");
    CHECK_PENDING("set /n");
    BOOST_TEST(!all[each].done());
    answer_number({});
    BOOST_TEST(all[each].done());
  }
  CHECK_PENDING();
}

BOOST_AUTO_TEST_SUITE_END()
