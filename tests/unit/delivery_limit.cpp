// The limit of a consumer's calls, on a server that the test makes.
#include <algorithm>
#include <stdexcept>
#include <string>

#include <boost/test/unit_test.hpp>

#include "election/term_record.hpp"
#include "notes/consumer_notes.hpp"
#include "unit/delivering.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct limited_delivery : delivering {
  static queue_consumer_options limited(message_limit how) {
    queue_consumer_options options;
    options.order = message_order::none;
    options.window = options.parallel = 16;
    options.retry = {.first = 10ms, .longest = 10ms, .jitter = 0, .attempts = 3};
    options.limit = std::move(how);
    return options;
  }
  /// The key of "a1" is "a".
  static queue_consumer_options by_key(keep which, message_limit how) {
    auto options = limited(std::move(how));
    options.order = message_order::by_key;
    options.key = [](const message& item) { return item.data.substr(0, 1); };
    options.duplicates = message_duplicates{.keep = which};
    return options;
  }
  /// The cost of "a12" is 12.
  static std::uint64_t told_cost(const message& item) { return std::stoull(item.data.substr(1)); }

  /// Why a consumer with these options is refused.
  std::string refusal_of(const queue_consumer_options& options) const {
    try {
      held_consumer made(zk, options);
      return "";
    } catch (const std::invalid_argument& refused) {
      return refused.what();
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_limit, limited_delivery)

BOOST_AUTO_TEST_CASE(calls_keep_to_the_rate_behind_a_burst) {
  consume(limited({.rate = 1, .per = 100ms, .burst = 2}));
  consumer->is_held = false;
  put({"1", "2", "3", "4"});
  CHECK_LIST(consumer->begun, "1", "2");
  BOOST_TEST(consumer->status().limited == 2u);
  pass(99ms);
  CHECK_LIST(consumer->begun, "1", "2");
  pass(1ms);
  CHECK_LIST(consumer->begun, "1", "2", "3");
  BOOST_TEST(consumer->status().limited == 1u);
  BOOST_TEST(consumer->status().waited == 1u);
  pass(100ms);
  CHECK_LIST(consumer->begun, "1", "2", "3", "4");
  BOOST_TEST(consumer->status().limited == 0u);
  BOOST_TEST(consumer->status().waited == 2u);
}

BOOST_AUTO_TEST_CASE(one_timer_serves_all_that_wait) {
  consume(limited({.rate = 1, .per = 700ms}));
  consumer->is_held = false;
  put({"1", "2"});
  const auto timers = [&] { return state().timers.size(); };
  BOOST_TEST(consumer->status().limited == 1u);
  const auto for_one = timers();
  put({"3", "4", "5"});
  BOOST_TEST(consumer->status().limited == 4u);
  BOOST_TEST(timers() == for_one);
  pass(700ms);
  CHECK_LIST(consumer->begun, "1", "2");
  BOOST_TEST(timers() == for_one);
}

BOOST_AUTO_TEST_CASE(what_is_declined_costs_nothing) {
  consume(by_key(keep::first, {.rate = 1, .per = 100ms}));
  put({"a1"});
  put({"a2", "a3", "a4"});
  CHECK_LIST(left(), "a1", "a2");
  let_go("a1");
  pass(100ms);
  CHECK_LIST(consumer->begun, "a1", "a2");
  put({"b1"});
  pass(100ms);
  CHECK_LIST(consumer->begun, "a1", "a2", "b1");
  BOOST_TEST(consumer->status().declined == 2u);
}

BOOST_AUTO_TEST_CASE(messages_are_declined_while_their_key_waits_for_the_limit) {
  consume(by_key(keep::newest, {.rate = 1, .per = 100ms}));
  put({"x1"});
  put({"a1"});
  put({"a2"});
  BOOST_TEST(consumer->status().declined == 0u);
  put({"a3"});
  put({"a4"});
  CHECK_LIST(consumer->begun, "x1");
  CHECK_LIST(left(), "x1", "a1", "a4");
  pass(100ms);
  let_go("a1");
  pass(100ms);
  CHECK_LIST(consumer->begun, "x1", "a1", "a4");
}

BOOST_AUTO_TEST_CASE(the_end_of_a_run_does_not_wait_for_the_limit) {
  consume(limited({.rate = 1, .per = 24h}));
  consumer->is_held = false;
  put({"1", "2"});
  coordinator->stop();
  serve_all();
  BOOST_TEST(running->done());
  CHECK_LIST(consumer->begun, "1");
  CHECK_LIST(left(), "2");
  BOOST_TEST(!has("/q/" + names["2"] + "/_attempt"));
  BOOST_TEST(consumer->status().again == 0u);
  BOOST_TEST(consumer->status().limited == 0u);
  const auto record = detail::parse_record(record_of_term());
  BOOST_TEST_REQUIRE((record && record->phase == term_phase::retired));
  BOOST_TEST((detail::read_notes(record->notes).limit_level == 24h));
}

BOOST_AUTO_TEST_CASE(a_message_that_waits_is_not_named_in_the_record) {
  consume(limited({.rate = 1, .per = 1s}));
  put({"1"});
  let_go("1", message_outcome::again("no"));
  pass(900ms);
  CHECK_LIST(consumer->begun, "1");
  BOOST_TEST(detail::read_notes(detail::parse_record(record_of_term())->notes).in_hand.empty());
  pass(100ms);
  CHECK_LIST(consumer->begun, "1", "1");
  BOOST_TEST(consumer->attempts.back() == 2);
  BOOST_TEST(detail::read_notes(detail::parse_record(record_of_term())->notes).in_hand.size() == 1u);
  coordinator->resign();
  serve_all();
  const auto ending = detail::parse_record(record_of_term());
  BOOST_TEST((ending->phase == term_phase::handing_over));
  BOOST_TEST(detail::read_notes(ending->notes).in_hand.size() == 1u, "the successor has to know it, too");
}

BOOST_AUTO_TEST_CASE(each_call_costs_what_the_message_costs) {
  int asked = 0;
  consume(limited({.rate = 1, .per = 10ms, .burst = 20, .cost = [&](const message& item) {
                     ++asked;
                     return told_cost(item);
                   }}));
  consumer->is_held = false;
  put({"a15", "b10", "c1"});
  CHECK_LIST(consumer->begun, "a15");  // c1 comes behind b10
  pass(49ms);
  CHECK_LIST(consumer->begun, "a15");
  pass(1ms);
  CHECK_LIST(consumer->begun, "a15", "b10");
  pass(10ms);
  CHECK_LIST(consumer->begun, "a15", "b10", "c1");
  BOOST_TEST(asked == 3);
}

BOOST_AUTO_TEST_CASE(a_cost_that_is_too_high_or_can_not_be_told_is_a_whole_burst) {
  consume(limited({.rate = 1, .per = 10ms, .burst = 20, .cost = told_cost}));
  consumer->is_held = false;
  put({"a21", "b0", "cx", "d1"});
  CHECK_LIST(consumer->begun, "a21", "b0");
  pass(199ms);
  CHECK_LIST(consumer->begun, "a21", "b0");
  pass(1ms);
  CHECK_LIST(consumer->begun, "a21", "b0", "cx");
  pass(10ms);
  CHECK_LIST(consumer->begun, "a21", "b0", "cx", "d1");
}

BOOST_AUTO_TEST_CASE(a_hold_off_leaves_credit_for_one_call) {
  consume(limited({.rate = 1, .per = 100ms, .burst = 10}));
  put({"1"});
  let_go("1", message_outcome::hold_off(500ms, "busy"));
  put({"2", "3"});
  pass(499ms);
  CHECK_LIST(consumer->begun, "1");
  pass(1ms);
  CHECK_LIST(consumer->begun, "1", "1");
  pass(100ms);
  CHECK_LIST(consumer->begun, "1", "1", "2");
  BOOST_TEST(consumer->attempts.back() == 1);
}

BOOST_AUTO_TEST_CASE(a_pause_of_0_takes_no_credit_away) {
  consume(limited({.rate = 1, .per = 100ms, .burst = 4}));
  put({"1"});
  let_go("1", message_outcome::hold_off(0ms, "busy"));
  pass(10ms);  // each lasts so long
  CHECK_LIST(consumer->begun, "1", "1");
  put({"2", "3", "4"});
  CHECK_LIST(consumer->begun, "1", "1", "2", "3");
}

BOOST_AUTO_TEST_CASE(a_failed_attempt_does_not_ask_for_the_cost_again) {
  int asked = 0;
  consume(limited({.rate = 1, .per = 10ms, .burst = 20, .cost = [&](const message&) {
                     ++asked;
                     return 1u;
                   }}));
  put({"1"});
  let_go("1", message_outcome::again("no"));
  pass(10ms);
  CHECK_LIST(consumer->begun, "1", "1");
  BOOST_TEST(asked == 1);
}

BOOST_AUTO_TEST_CASE(bad_limits_are_refused) {
  BOOST_TEST(refusal_of(limited({.rate = 1})) == "");
  BOOST_TEST(refusal_of(limited({})) == "message_limit::rate is 0; it must be from 1 to 1000000000");
  BOOST_TEST(refusal_of(limited({.rate = 1, .per = 999ns})) ==
             "message_limit::per is 999 ns; it must be from 1 us to 366 days");
  BOOST_TEST(refusal_of(limited({.rate = 1, .burst = 0})) ==
             "message_limit::burst is 0; it must be from 1 to 1000000000");
  BOOST_TEST(refusal_of(limited({.rate = 1, .per = 24h, .burst = 367})) ==
             "message_limit::burst is 367; it must come back, at this rate, within 366 days");
  auto options = limited({.rate = 1});
  options.delivery = delivery_guarantee::at_most_once;
  BOOST_TEST(refusal_of(options) == "queue_consumer_options::limit: it must be unset with at_most_once");
}

BOOST_AUTO_TEST_SUITE_END()
