// Setting a value: the error that the writer gets if the reply is lost.
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
