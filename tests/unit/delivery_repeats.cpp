// The suppression of a producer's repeats in a consumer, on a server that the test makes.
#include <string>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/delay_queue.hpp>
#include <zkrecipes/priority_queue.hpp>

#include "unit/repeating.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(delivery_repeats, repeating)

BOOST_AUTO_TEST_CASE(a_repeat_is_acknowledged_and_not_processed) {
  consume_freely(repeats_in_order());
  put_each({"a1", "b7", "a2", "a1", "b7", "a2", "a4"});
  CHECK_LIST(results, "a1", "b7", "a2", "a4");
  CHECK_LIST(consumer->begun, "a1", "b7", "a2", "a4");
  BOOST_TEST(left().empty());
  check_status(4, 3);
  BOOST_TEST(data_of(marks_path) == record(R"("7 b","1-2,4 a")"));
}

BOOST_AUTO_TEST_CASE(messages_without_a_number_are_always_processed) {
  for (const auto& options : {repeats_in_order(), repeats_by_producer()}) {
    repeating world;
    world.consume_freely(options);
    world.put({"-x"});
    world.put({"-x"});
    CHECK_LIST(world.results, "-x", "-x");
    world.check_status(2, 0);
    BOOST_TEST(!world.has(marks_path));
  }
}

BOOST_AUTO_TEST_CASE(in_strict_order_a_repeat_travels_in_the_commit_of_the_first) {
  consume(repeats_in_order());
  put({"a1", "a2", "a1", "a2"});
  let_go("a1");
  BOOST_TEST(commits.size() == 1u);
  CHECK_LIST(left(), "a2", "a1", "a2");
  let_go("a2");
  CHECK_LIST(consumer->begun, "a1", "a2");
  CHECK_LIST(results, "a1", "a2");
  BOOST_TEST(left().empty());
  check_status(2, 2);
}

BOOST_AUTO_TEST_CASE(a_repeat_waits_for_the_next_attempt_at_the_first) {
  for (const auto& options : {repeats_in_order(), repeats_by_producer()}) {
    repeating world;
    world.consume(options);
    world.put({"a1", "a1"});
    world.let_go("a1", message_outcome::again("not yet"));
    CHECK_LIST(world.left(), "a1", "a1");
    world.pass(10ms);
    CHECK_LIST(world.consumer->begun, "a1", "a1");
    CHECK_LIST(world.left(), "a1", "a1");
    world.let_go("a1");
    CHECK_LIST(world.results, "a1");
    BOOST_TEST(world.left().empty());
    world.check_status(1, 1);
  }
}

BOOST_AUTO_TEST_CASE(a_repeat_that_was_judged_behind_refused_effects_is_judged_again) {
  int refusals = 1;
  refusal = [&](const operation& what) {
    const bool is_refused = what.path == "/result" && what.data == "a1" && refusals > 0;
    if (is_refused) --refusals;
    return is_refused ? make_error_code(errc::no_node) : error_code();
  };
  consume_freely(repeats_in_order());
  put({"a1", "a1"});
  BOOST_TEST(results.empty());
  CHECK_LIST(left(), "a1", "a1");
  BOOST_TEST(!has(marks_path));
  pass(10ms);
  CHECK_LIST(results, "a1");
  BOOST_TEST(left().empty());
  check_status(1, 1);
}

BOOST_AUTO_TEST_CASE(the_next_term_knows_what_was_processed) {
  consume_freely(repeats_in_order());
  put_each({"a1", "a2"});
  change_term();
  put_each({"a2", "a3", "a1"});
  CHECK_LIST(results, "a1", "a2", "a3");
  check_status(3, 2);
}

BOOST_AUTO_TEST_CASE(what_a_term_has_not_committed_is_no_repeat_in_the_next) {
  consume(repeats_in_order());
  put({"a1"});
  coordinator->resign();
  let_go("a1", message_outcome::again("later"));
  BOOST_TEST_REQUIRE(coordinator->status().epoch == 2);
  CHECK_LIST(consumer->begun, "a1", "a1");
  let_go("a1");
  put({"a1"});
  CHECK_LIST(results, "a1");
  check_status(1, 1);
}

BOOST_AUTO_TEST_CASE(a_dead_letter_that_comes_back_is_processed_once) {
  for (const bool changes_term : {false, true}) {
    for (const auto& options : {repeats_in_order(), repeats_by_producer()}) {
      repeating world;
      world.consume(options);
      world.put({"a1"});
      world.let_go("a1", message_outcome::park("not this one"));
      world.consumer->is_held = false;
      world.put({"a2"});
      BOOST_TEST(world.data_of(marks_path) == record(R"("2 a")"));
      if (changes_term) world.change_term();
      world.put({"a1"});  // as a revival does
      world.put({"a1"});
      CHECK_LIST(world.results, "a2", "a1");
      world.check_status(2, 1, 1);
      BOOST_TEST(world.data_of(marks_path) == record(R"("1-2 a")"));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_follows_a_parked_message_of_a_parked_key_comes_back_too) {
  auto options = repeats_by_producer();
  options.spent = spent_message::park_key;
  consume(options);
  put({"a1"});
  let_go("a1", message_outcome::park("not this one"));
  put({"a2", "a3"});
  CHECK_LIST(consumer->begun, "a1");
  BOOST_TEST(!has(marks_path));
  check_status(0, 0, 3);
}

BOOST_AUTO_TEST_CASE(the_options_of_a_consumer_can_be_used_again) {
  consume_freely(repeats_by_producer());
  BOOST_TEST(!consumer->options().key);
  BOOST_TEST(problem_of<queue>(consumer->options()) == "");
}

BOOST_AUTO_TEST_CASE(a_producer_that_can_not_be_told_makes_a_dead_letter) {
  consume_freely(repeats_in_order());
  put({"a", std::string(256, 'p') + "1", "7"});
  put({"a1"});
  CHECK_LIST(results, "a1");
  BOOST_TEST(left().empty());
  check_status(1, 0, 3);
}

BOOST_AUTO_TEST_CASE(by_key_the_producers_go_on_beside_each_other) {
  consume(repeats_by_producer());
  put({"a1", "b1", "a1", "a2", "b1"});
  CHECK_LIST(consumer->begun, "a1", "b1");
  let_go("b1");
  CHECK_LIST(left(), "a1", "a1", "a2");
  let_go("a1");
  CHECK_LIST(consumer->begun, "a1", "b1", "a2");
  let_go("a2");
  CHECK_LIST(results, "b1", "a1", "a2");
  check_status(3, 2);
}

BOOST_AUTO_TEST_CASE(a_term_reads_the_marks_once_and_a_commit_writes_them_once) {
  struct counts {
    int requests = 0, reads = 0, writes = 0, checks = 0;
  };
  const auto count = [](const queue_consumer_options& options) {
    repeating world;
    counts all;
    world.on_serve = [&](const backend::request& what) {
      ++all.requests;
      if (what.path == marks_path) ++all.reads;
      for (const auto& each : what.operations) {
        if (each.path == marks_path) ++(each.type == operation::kind::check ? all.checks : all.writes);
      }
    };
    world.consume_freely(options);
    world.put({"a1", "b1"});
    world.put_each({"a1", "a2"});
    BOOST_TEST(world.left().empty());
    world.on_serve = nullptr;
    return all;
  };
  auto options = repeats_in_order();
  const auto with = count(options);
  options.repeats.reset();
  const auto without = count(options);
  BOOST_TEST(with.reads == 1);
  BOOST_TEST(with.writes == 2);
  BOOST_TEST(with.checks == 1);
  BOOST_TEST(with.requests == without.requests + 1);
  BOOST_TEST(without.reads + without.writes == 0);
}

BOOST_AUTO_TEST_CASE(foreign_data_ends_the_run_and_stays) {
  write(marks_path, "somebody else's");
  consume_freely(repeats_in_order());
  put({"a1"});
  BOOST_TEST(results.empty());
  BOOST_TEST((running->error() == errc::career_failed));
  BOOST_TEST(data_of(marks_path) == "somebody else's");
}

BOOST_AUTO_TEST_CASE(marks_that_somebody_else_has_moved_are_read_again_before_anything_is_committed) {
  consume(repeats_in_order());
  put({"a1", "a2"});
  write(marks_path, record(R"("1 a")"));
  let_go("a1");
  CHECK_LIST(results, );
  let_go("a2");
  CHECK_LIST(results, "a2");
  BOOST_TEST(left().empty());
  check_status(1, 1);
  BOOST_TEST(data_of(marks_path) == record(R"("1-2 a")"));
}

BOOST_AUTO_TEST_CASE(the_producer_that_has_been_silent_for_longest_is_forgotten) {
  auto options = repeats_in_order();
  options.repeats->most_producers = 2;
  consume_freely(options);
  put({"a1"});
  put({"b1"});
  put({"c1"});
  put({"b1"});
  put({"a1"});
  CHECK_LIST(results, "a1", "b1", "c1", "a1");
  check_status(4, 1);
  BOOST_TEST(consumer->status().forgotten == 2u);
}

BOOST_AUTO_TEST_CASE(options_that_can_not_work_are_refused) {
  BOOST_TEST(problem_of<queue>(repeats_in_order()) == "");
  BOOST_TEST(problem_of<queue>(repeats_by_producer()) == "");
  const auto refused = [&](auto&& change) {
    auto options = repeats_by_producer();
    change(options);
    return problem_of<queue>(options);
  };
  const auto names = [](const std::string& option) {
    return [option](const std::string& problem) { return problem.find("options::" + option + ":") != problem.npos; };
  };
  using options_type = queue_consumer_options;
  const auto check = [&](const char* option, auto&& change) {
    const auto problem = refused(change);
    BOOST_TEST(names(option)(problem), option << " is not named in: " << problem);
  };
  check("repeats.origin", [](options_type& of) { of.repeats->origin = nullptr; });
  check("repeats.most_producers", [](options_type& of) { of.repeats->most_producers = 0; });
  check("repeats.most_producers", [](options_type& of) { of.repeats->most_producers = 1'001; });
  check("repeats", [](options_type& of) { of.order = message_order::none; });
  check("key", [](options_type& of) { of.key = [](const message& item) { return item.data; }; });
  check("repeats", [](options_type& of) { of.duplicates = message_duplicates{}; });
  check("repeats", [](options_type& of) { of.delivery = delivery_guarantee::at_most_once; });
  BOOST_TEST(names("repeats")(problem_of<priority_queue>(repeats_in_order())));
  BOOST_TEST(names("repeats")(problem_of<delay_queue>(repeats_in_order())));
}

BOOST_AUTO_TEST_SUITE_END()
