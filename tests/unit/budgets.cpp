// Operations with a budget of time end when it is over, whatever they wait for.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/election.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/semaphore.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct limited : fake_session {
  limited() { connect(); }

  /// The servers do not answer. Begins the operation with a budget of a second, and lets that pass.
  template <class Result, class Begin>
  void check(Begin begin) {
    auto ended = record<Result>();
    begin(ended.token());
    settle();
    BOOST_TEST(!last().pending.empty());
    advance(999ms);
    BOOST_TEST(!ended.done());
    advance(1ms);
    BOOST_TEST_REQUIRE(ended.done());
    BOOST_TEST((ended.error() == errc::timed_out), ended.error().message());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(budgets, limited)

BOOST_AUTO_TEST_CASE(a_campaign) {
  election one(zk, "/e", {.id = "a"});
  check<ownership>([&](auto token) { one.async_campaign_for(1s, token); });
}

BOOST_AUTO_TEST_CASE(a_permit) {
  semaphore one(zk, "/s", 1);
  check<ownership>([&](auto token) { one.async_acquire_for(1s, token); });
}

BOOST_AUTO_TEST_CASE(taking_an_item) {
  queue from(zk, "/q");
  check<message>([&](auto token) { from.async_take_for(1s, token); });
}

BOOST_AUTO_TEST_CASE(taking_several_items) {
  queue from(zk, "/q");
  check<std::vector<message>>([&](auto token) { from.async_take_many_for(2, 1s, token); });
}

BOOST_AUTO_TEST_CASE(popping_an_item) {
  queue from(zk, "/q");
  check<message>([&](auto token) { from.async_pop_for(1s, token); });
}

BOOST_AUTO_TEST_SUITE_END()
