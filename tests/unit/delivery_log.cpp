// What the session's log hears of messages and of terms that do not go well.
#include <memory>

#include "election/term_record.hpp"
#include "notes/consumer_notes.hpp"
#include "unit/delivering.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using lines_ptr = std::shared_ptr<strings>;

/// Without what the session tells of itself.
session_options logged(const lines_ptr& into, const lines_ptr& begins) {
  auto options = fake_session::usual();
  options.log = [into, begins](const log_event& each) {
    const auto line = std::string(to_string(each.severity)) + ' ' + to_string(each);
    if (each.event == session_event::term_begun) begins->push_back(line);
    for (const auto* mine : {"process", "attempt", "park", "call", "term"}) {
      if (each.operation == mine) into->push_back(line);
    }
  };
  return options;
}

struct log_case {
  lines_ptr lines = std::make_shared<strings>();
  lines_ptr begins = std::make_shared<strings>();
};

struct telling : log_case, delivering {
  telling() : delivering(logged(lines, begins)) {}

  void consume_with(std::int32_t attempts) {
    queue_consumer_options options;
    options.retry.attempts = attempts;
    consume(options);
    consumer->is_held = false;
    consumer->is_away = [](const message& item) { return item.data == "poison"; };
  }
  detail::json_object figures() const {
    return detail::read_notes(detail::parse_record(record_of_term())->notes).figures;
  }
  void pass_in_steps(std::chrono::seconds time) {
    for (std::chrono::milliseconds spent{0}; spent < time; spent += 500ms) pass(500ms);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_logs, telling)

BOOST_AUTO_TEST_CASE(each_failed_attempt_is_told_with_its_message_and_its_reason) {
  consume_with(2);
  put({"poison", "good"});
  pass_in_steps(10s);
  BOOST_TEST(letters().size() == 1u);
  const auto told = [](int attempt) {
    return "warning operation_failed attempt queue /q (attempt-failed: qn-0000000001, attempt " +
           std::to_string(attempt) + " of 2: the database is away)";
  };
  CHECK_LIST(*lines, told(1), told(2),
             "warning operation_failed park queue /q (parked: qn-0000000001: the database is away)");
}

BOOST_AUTO_TEST_CASE(effects_that_are_refused_and_a_message_that_is_parked_are_told) {
  consume_with(8);
  refusal = [&](const operation& what) {
    return what.path == "/result" ? make_error_code(errc::no_node) : error_code();
  };
  put({"refused"});
  BOOST_TEST_REQUIRE(lines->size() == 1u);
  BOOST_TEST(lines->front().find("qn-0000000001, attempt 1 of 8: its effects were refused: ") != std::string::npos);
  refusal = nullptr;
  consumer->is_held = true;
  put({"unknown"});
  pass_in_steps(2s);
  lines->clear();
  if (consumer->calls.contains("refused")) let_go("refused");
  let_go("unknown", message_outcome::park("no such account"));
  CHECK_LIST(*lines, "warning operation_failed park queue /q (parked: qn-0000000002: no such account)");
}

BOOST_AUTO_TEST_CASE(a_message_that_stays_in_process_is_named_in_the_log_and_in_the_record) {
  consume({});
  put({"first"});
  const auto begun = now();
  pass_in_steps(44s);
  BOOST_TEST(!figures().has("still_message"));
  BOOST_TEST(lines->empty());
  pass_in_steps(2s);
  BOOST_TEST(figures().text("still_message").value_or("") == names["first"]);
  const auto since = std::chrono::milliseconds(figures().integer("still_since_ms").value_or(0));
  BOOST_TEST((since == std::chrono::floor<std::chrono::milliseconds>(begun.time_since_epoch())));
  const auto record = record_of_term();
  pass_in_steps(60s);
  BOOST_TEST(record_of_term() == record, "it is written once");
  CHECK_LIST(*lines,
             "warning operation_failed call queue /q (stands-still: qn-0000000001 has been in process for 45 s)");
  let_go("first");
  pass_in_steps(2s);
  BOOST_TEST(!figures().has("still_message"));
}

BOOST_AUTO_TEST_CASE(that_a_consumer_holds_off_is_a_failure_and_that_it_goes_on_is_none) {
  queue_consumer_options options;
  options.order = message_order::none;
  options.window = options.parallel = 16;
  consume(options);
  consumer->is_held = false;
  bool is_away = true;
  consumer->is_away = [&](const message&) { return is_away; };
  strings many;
  for (int i = 0; i < 40; ++i) many.push_back(std::to_string(i));
  put(many);
  pass_in_steps(10s);
  const auto told = [&] {
    strings mine;
    for (const auto& each : *lines) {
      if (each.find(" process ") != std::string::npos) mine.push_back(each);
    }
    return mine;
  };
  const std::string held =
      "warning operation_failed process queue /q (consumer-held-off: all attempts fail; the last: the database is "
      "away)";
  CHECK_LIST(told(), held);
  is_away = false;
  pass_in_steps(20s);
  CHECK_LIST(told(), held,
             "info consumer_goes_on process queue /q (an attempt has succeeded, or nothing is left that has failed)");
}

BOOST_AUTO_TEST_CASE(a_term_that_begins_is_told) {
  consume({});
  CHECK_LIST(*begins, "info term_begun /e (term 1)");
}

/// A call that was given up is older than the one that hangs behind it.
BOOST_AUTO_TEST_CASE(a_message_that_hangs_behind_a_call_that_was_given_up_is_named) {
  queue_consumer_options options;
  options.order = message_order::by_key;
  options.key = [](const message& item) { return item.data.substr(0, 1); };
  options.window = 16;
  options.parallel = 4;
  options.retry.first = options.retry.longest = 1h;
  options.duplicates = message_duplicates{.safety = 30s};
  consume(options);
  consumer->is_deaf = true;
  put({"a1", "a2"});
  pass_in_steps(40s);
  BOOST_TEST(consumer->status().evicted == 1u);
  put({"b1"});
  pass_in_steps(7s);
  BOOST_TEST(figures().flag("still").value_or(false));
  BOOST_TEST(!figures().has("still_message"));
  lines->clear();
  pass_in_steps(40s);
  CHECK_LIST(*lines,
             "warning operation_failed call queue /q (stands-still: qn-0000000003 has been in process for 45 s)");
  BOOST_TEST(figures().text("still_message").value_or("") == names["b1"]);
}

BOOST_AUTO_TEST_CASE(a_term_that_ends_by_a_stall_is_told_and_one_that_resigns_is_not) {
  consume({}, 1s);
  put({"1"});
  pass(1s);
  BOOST_TEST_REQUIRE(!lines->empty());
  BOOST_TEST(lines->front() == "warning operation_failed term /e (term-ended: stalled, term 1)");
  let_go("1");
  lines->clear();
  coordinator->resign();
  pass(3s);
  BOOST_TEST(lines->empty());
}

BOOST_AUTO_TEST_SUITE_END()
