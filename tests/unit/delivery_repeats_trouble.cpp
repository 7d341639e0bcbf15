// What a consumer that suppresses repeats must not take for a repeat, and what it does with messages it can not judge.
#include <string>

#include <boost/test/unit_test.hpp>

#include "unit/repeating.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(delivery_repeats_trouble, repeating)

BOOST_AUTO_TEST_CASE(a_number_that_was_skipped_is_processed_when_it_comes) {
  for (const auto& options : {repeats_in_order(), repeats_by_producer()}) {
    repeating world;
    world.consume_freely(options);
    world.put_each({"a3", "a6", "a4", "a1", "a4", "a1"});
    CHECK_LIST(world.results, "a3", "a6", "a4", "a1");
    world.check_status(4, 2);
  }
}

BOOST_AUTO_TEST_CASE(a_copy_of_a_message_that_somebody_has_deleted_is_processed) {
  consume(repeats_in_order());
  put({"a1", "a1"});
  const auto first = "/q/qn-0000000001";
  BOOST_TEST_REQUIRE(data_of(first) == "a1");
  remove_node(first);
  let_go("a1");
  CHECK_LIST(consumer->begun, "a1", "a1");
  BOOST_TEST(results.empty());
  let_go("a1");
  CHECK_LIST(results, "a1");
  BOOST_TEST(left().empty());
  check_status(1, 0);
}

BOOST_AUTO_TEST_CASE(a_message_whose_producer_can_not_be_told_is_parked_without_its_key) {
  auto options = repeats_by_producer();
  options.spent = spent_message::park_key;
  consume_freely(options);
  put({"a", std::string(256, 'p') + "1", "7"});
  BOOST_TEST(letters().size() == 3u);
  put_each({"-x", "a1"});
  CHECK_LIST(results, "-x", "a1");
  check_status(2, 0, 3);
}

BOOST_AUTO_TEST_CASE(a_message_that_has_changed_its_producer_while_it_waited_is_parked) {
  consume(repeats_by_producer());
  put({"b2"});
  let_go("b2");
  put({"a1", "a2"});
  let_go("a1", message_outcome::again("not yet"));  // the data of what is behind it is dropped
  write("/q/" + names["a2"], "b2");
  consumer->is_held = false;
  pass(10ms);
  CHECK_LIST(results, "b2", "a1");
  check_status(2, 0, 1);
  BOOST_TEST(letters().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_commit_of_repeats_alone_checks_the_marks) {
  consume_freely(repeats_in_order());
  put({"a1"});
  remove_node(marks_path);
  put({"a1"});
  CHECK_LIST(results, "a1", "a1");
  BOOST_TEST(left().empty());
  check_status(2, 0);
  BOOST_TEST(data_of(marks_path) == record(R"("1 a")"));
}

BOOST_AUTO_TEST_CASE(a_repeat_that_can_not_be_removed_rests_without_an_attempt) {
  for (auto options : {repeats_in_order(), repeats_by_producer()}) {
    options.spent = spent_message::park;
    options.retry.attempts = 2;
    repeating world;
    bool is_refused = false;
    world.refusal = [&](const operation& what) {
      return is_refused && what.path.starts_with("/q/qn-") ? make_error_code(errc::not_empty) : error_code();
    };
    world.consume_freely(options);
    world.put({"a1"});
    is_refused = true;
    world.put({"a1"});
    for (int i = 0; i < 5; ++i) world.pass(1s);
    BOOST_TEST(world.letters().empty());
    CHECK_LIST(world.left(), "a1");
    BOOST_TEST(world.consumer->status().refused > 2u);
    BOOST_TEST(world.consumer->status().again == 0u);
    is_refused = false;
    world.pass(1s);
    BOOST_TEST(world.left().empty());
    CHECK_LIST(world.results, "a1");
    world.check_status(1, 1);
  }
}

/// The process of the last two terms has died, and all that is there at first are repeats.
struct repeating_in_probation : repeating {
  repeating_in_probation() {
    write(marks_path, record(R"("1-9 a")"));
    write_record(R"({"zkrecipes":"term","epoch":7,"phase":"executing","how":"clean","hand_over_deadline_ms":0,)"
                 R"("leader":{"id":"a","node":"n","token":5},"consumer":{"epoch":7,"crashes":1}})");
    consume(repeats_in_order(1));
    put({"a1", "a2", "a3"});
    pass(2s);
    check_status(0, 3);
  }
};

BOOST_FIXTURE_TEST_CASE(repeats_are_no_progress, repeating_in_probation) {
  change_term();
  BOOST_TEST(record_of_term().find(R"("crashes":2)") != std::string::npos, record_of_term());
  put({"a10"});
  let_go("a10");
  change_term();
  BOOST_TEST(record_of_term().find(R"("crashes":0)") != std::string::npos, record_of_term());
}

BOOST_FIXTURE_TEST_CASE(repeats_do_not_use_up_the_search_for_a_message_that_kills, repeating_in_probation) {
  put({"a10"});
  CHECK_LIST(consumer->begun, "a10");
  BOOST_TEST(record_of_term().find(names["a10"]) != std::string::npos, record_of_term());
}

BOOST_AUTO_TEST_SUITE_END()
