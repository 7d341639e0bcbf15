// Duplicate suppression in a consumer, on a server that the test makes. `tests/unit/delivery_window_duplicates.cpp` has
// the rules for which messages are declined.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "unit/delivering.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

queue_consumer_options by_letter(message_duplicates how = {}) {
  queue_consumer_options options;
  options.order = message_order::by_key;
  options.key = [](const message& item) { return item.data.substr(0, 1); };
  options.window = 16;
  options.parallel = 4;
  options.retry = {.first = 100ms, .longest = 1s, .jitter = 0, .attempts = 3};
  options.duplicates = how;
  return options;
}

/// Why a consumer with these options is refused.
std::string problem_of(const session& over, const queue_consumer_options& options) {
  try {
    held_consumer made(over, options);
    return "";
  } catch (const std::invalid_argument& problem) {
    return problem.what();
  }
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_duplicates, delivering)

BOOST_AUTO_TEST_CASE(what_is_declined_is_acknowledged_while_another_one_waits) {
  consume(by_letter());
  put({"a1", "b1"});
  put({"a2", "a3", "a4"});
  CHECK_LIST(consumer->begun, "a1", "b1");
  CHECK_LIST(left(), "a1", "b1", "a2");
  BOOST_TEST(results.empty());
  BOOST_TEST(consumer->status().declined == 2u);
  let_go("a1");
  CHECK_LIST(consumer->begun, "a1", "b1", "a2");
  put({"a5"});  // a2 began before it came
  CHECK_LIST(left(), "b1", "a2", "a5");
  let_go("a2");
  let_go("a5");
  let_go("b1");
  CHECK_LIST(results, "a1", "a2", "a5", "b1");
  BOOST_TEST(left().empty());
  const auto status = consumer->status();
  BOOST_TEST(status.done == 4u);
  BOOST_TEST(status.declined == 2u);
  BOOST_TEST(status.received == 6u);
  BOOST_TEST(status.finished == 0u);
}

BOOST_AUTO_TEST_CASE(the_newest_one_waits_if_that_is_wanted) {
  consume(by_letter({.keep = keep::newest}));
  put({"a1"});
  put({"a2", "a3"});
  put({"a4"});
  CHECK_LIST(left(), "a1", "a4");
  let_go("a1");
  let_go("a4");
  CHECK_LIST(results, "a1", "a4");
}

BOOST_AUTO_TEST_CASE(what_was_declined_is_done_by_the_next_term) {
  consume(by_letter());
  put({"a1"});
  put({"a2", "a3"});
  CHECK_LIST(left(), "a1", "a2");
  coordinator->resign();
  let_go("a1");
  BOOST_TEST(coordinator->status().epoch == 2);
  CHECK_LIST(consumer->begun, "a1", "a2");
  let_go("a2");
  CHECK_LIST(results, "a1", "a2");
}

BOOST_AUTO_TEST_CASE(what_does_the_work_of_others_is_tried_again_and_parked_like_any_message) {
  consume(by_letter());
  put({"a1"});
  put({"a2", "a3"});
  let_go("a1");
  for (int times = 1; times <= 3; ++times) {
    let_go("a2", message_outcome::again("no"));
    pass(1s);
  }
  CHECK_LIST(consumer->begun, "a1", "a2", "a2", "a2");
  BOOST_TEST(left().empty());
  BOOST_TEST(consumer->status().parked == 1u);
  put({"a4"});
  CHECK_LIST(consumer->begun, "a1", "a2", "a2", "a2", "a4");
}

BOOST_AUTO_TEST_CASE(a_call_that_takes_too_long_commits_nothing_and_its_message_is_tried_again_first) {
  consume(by_letter({.safety = 1s}));
  consumer->is_deaf = true;
  put({"a1"});
  pass(3s);  // nobody waits for it
  BOOST_TEST(consumer->status().evicted == 0u);
  const auto first = consumer->calls["a1"];
  put({"a2"});
  BOOST_TEST(consumer->status().evicted == 1u);
  BOOST_TEST(consumer->status().again == 1u);
  CHECK_LIST(consumer->begun, "a1");
  pass(100ms);
  CHECK_LIST(consumer->begun, "a1", "a1");
  BOOST_TEST(consumer->attempts.back() == 2);
  first->hold.open();
  serve_all();
  BOOST_TEST(results.empty());
  CHECK_LIST(left(), "a1", "a2");
  let_go("a1");
  let_go("a2");
  CHECK_LIST(results, "a1", "a2");
}

BOOST_AUTO_TEST_CASE(the_safety_time_counts_from_the_start_of_the_call) {
  consume(by_letter({.safety = 5s}));
  put({"a1"});
  pass(3s);
  put({"a2"});
  pass(1'999ms);
  BOOST_TEST(consumer->status().evicted == 0u);
  pass(1ms);
  BOOST_TEST(consumer->status().evicted == 1u);
  BOOST_TEST(consumer->calls["a1"]->hold.was_cut());
}

BOOST_AUTO_TEST_CASE(a_call_that_was_given_up_and_does_not_end_is_still_a_stall) {
  auto options = by_letter({.safety = 1s});
  options.retry.first = options.retry.longest = 1h;
  consume(options, 4s);
  consumer->is_deaf = true;
  put({"a1", "a2"});
  pass(1s);
  BOOST_TEST(consumer->status().evicted == 1u);
  BOOST_TEST(to_string(coordinator->status().phase) == "executing");
  pass(3s);
  BOOST_TEST(to_string(coordinator->status().phase) == "handing_over");
  let_go("a1");
  BOOST_TEST_REQUIRE(consumer->ends.size() == 1u);
  BOOST_TEST((consumer->ends[0] == term_end::stalled));
  BOOST_TEST(consumer->status().again == 1u);  // its attempt had failed already
  BOOST_TEST(results.empty());
}

BOOST_AUTO_TEST_CASE(one_that_can_not_be_acknowledged_is_processed) {
  consume(by_letter());
  put({"a1"});
  refusal = [this](const operation& what) {
    const bool is_third = what.type == operation::kind::remove && what.path == "/q/" + names["a3"];
    return is_third && results.size() < 2 ? make_error_code(errc::no_auth) : error_code();
  };
  put({"a2", "a3", "a4"});
  CHECK_LIST(left(), "a1", "a2", "a3");
  BOOST_TEST(consumer->status().refused == 1u);
  let_go("a1");
  let_go("a2");
  CHECK_LIST(consumer->begun, "a1", "a2", "a3");
  let_go("a3");
  CHECK_LIST(results, "a1", "a2", "a3");
  BOOST_TEST(consumer->status().declined == 1u);
}

BOOST_AUTO_TEST_CASE(one_that_somebody_deletes_is_passed_over) {
  consume(by_letter());
  put({"a1"});
  refusal = [this](const operation& what) {
    return what.path == "/q/" + names["a3"] ? make_error_code(errc::no_node) : error_code();
  };
  on_serve = [this](const backend::request& what) {
    if (what.op == backend::opcode::get && what.path == "/q/" + names["a3"] && consumer->status().received == 3) {
      remove_node(what.path);
    }
  };
  put({"a2", "a3"});
  BOOST_TEST(consumer->status().passed_over == 1u);
  BOOST_TEST(consumer->status().declined == 0u);
  let_go("a1");
  let_go("a2");
  CHECK_LIST(results, "a1", "a2");
}

BOOST_AUTO_TEST_CASE(messages_whose_key_function_throws_are_all_processed) {
  auto options = by_letter();
  options.key = [](const message&) -> std::string { throw std::runtime_error("no key"); };
  consume(options);
  consumer->is_held = false;
  put({"1", "2", "3", "4"});
  CHECK_LIST(results, "1", "2", "3", "4");
}

BOOST_AUTO_TEST_CASE(options_that_would_do_nothing_or_lose_messages_are_refused) {
  BOOST_TEST(problem_of(zk, by_letter()) == "");
  auto options = by_letter();
  options.order = message_order::none;
  BOOST_TEST(problem_of(zk, options) == "queue_consumer_options::duplicates: it must be unset unless order is by_key");
  options = by_letter();
  options.delivery = delivery_guarantee::at_most_once;
  BOOST_TEST(problem_of(zk, options) == "queue_consumer_options::duplicates: it must be unset with at_most_once");
  options = by_letter();
  options.window = options.parallel = 2;
  BOOST_TEST(problem_of(zk, options) == "queue_consumer_options::window: it must be 3 or more with duplicates");
  options = by_letter({.safety = 0s});
  BOOST_TEST(problem_of(zk, options) == "queue_consumer_options::duplicates.safety: it must be more than 0");
}

BOOST_AUTO_TEST_SUITE_END()
