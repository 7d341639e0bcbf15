// What the session's log hears of messages, of terms that do not go well, and of outages.
#include <algorithm>
#include <memory>
#include <string>

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

// A short pause is nothing that an operator has to know of.
BOOST_AUTO_TEST_CASE(why_process_asks_for_nothing_but_pauses_is_in_the_record) {
  consume({});
  consumer->is_held = false;
  std::string reason = "the bank is closed";
  consumer->at_once = [&](const message&) { return message_outcome::hold_off(1s, reason); };
  put({"first"});
  reason = "it still is";
  pass_in_steps(44s);
  BOOST_TEST(!figures().has("held_off"));
  pass_in_steps(3s);
  BOOST_TEST(figures().text("held_off").value_or("") == "the bank is closed");
  BOOST_TEST(consumer->status().held_off.empty(), "no attempt has failed");
  consumer->at_once = nullptr;
  pass_in_steps(3s);
  BOOST_TEST(left().empty());
  BOOST_TEST(!figures().has("held_off"));
}

BOOST_AUTO_TEST_CASE(a_long_call_behind_a_pause_is_work) {
  consume({});
  put({"first"});
  let_go("first", message_outcome::hold_off(1s, "the bank is closed"));
  pass_in_steps(2s);
  BOOST_TEST_REQUIRE(consumer->calls.contains("first"));
  pass_in_steps(50s);
  BOOST_TEST(figures().text("still_message").value_or("") == names["first"]);
  BOOST_TEST(!figures().has("held_off"));
  let_go("first");
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

BOOST_AUTO_TEST_CASE(a_message_is_as_old_as_since_it_was_put_and_at_least_since_it_came) {
  consume({});
  const auto present = zk.get_core()->get_scheduler()->world->wall_clock().time_since_epoch();
  put_at = std::chrono::duration_cast<std::chrono::milliseconds>(present).count() - 40'000;
  put({"a"});
  BOOST_TEST((consumer->status().oldest == 40s));
  pass(2s);
  BOOST_TEST((consumer->status().oldest >= 40s));
  let_go("a");
  BOOST_TEST((consumer->status().oldest == 0s));
  put_at += 3'600'000;  // the clock of the servers is ahead
  put({"b"});
  BOOST_TEST((consumer->status().oldest == 0s));
  let_go("b");
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

// A consumer whose messages all fail because something that they need is away, on a server that the test makes.

namespace {

struct outage_case : delivering {
  void consume_in(message_order order, std::size_t window) {
    queue_consumer_options options;
    options.order = order;
    options.key = [](const message& item) { return item.data; };
    options.window = window;
    options.parallel = order == message_order::strict ? 1 : std::min<std::size_t>(window, 8);
    consume(options);
    consumer->is_held = false;
    consumer->is_away = [this](const message& item) { return is_away || item.data == "poison"; };
  }
  static strings many(std::size_t count) {
    strings all;
    for (std::size_t i = 0; i < count; ++i) all.push_back("m" + std::to_string(i));
    return all;
  }
  /// In steps, so that all timers in between run.
  void pass_in_steps(std::chrono::seconds time) {
    for (std::chrono::milliseconds spent{0}; spent < time; spent += 500ms) pass(500ms);
  }
  std::string held_off() const {
    return detail::read_notes(detail::parse_record(record_of_term())->notes).figures.text("held_off").value_or("");
  }
  std::int32_t most_attempts() const {
    return consumer->attempts.empty() ? 0 : *std::ranges::max_element(consumer->attempts);
  }

  strings done() const {
    strings all;
    for (const auto& each : commits) all.insert(all.end(), each.begin(), each.end());
    return all;
  }
  void check_poison(message_order order) {
    is_away = false;
    consume_in(order, 16);
    put({"poison"});
    pass_in_steps(150s);
    BOOST_TEST(letters().size() == 1u);
    put({"a", "poison", "b", "c"});
    pass_in_steps(150s);
    BOOST_TEST(letters().size() == 2u);
    BOOST_TEST(left().empty());
  }

  bool is_away = true;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_outages, outage_case)

BOOST_AUTO_TEST_CASE(by_key_an_outage_parks_nothing_and_all_goes_on_within_seconds) {
  consume_in(message_order::by_key, 256);
  put(many(300));
  pass_in_steps(150s);
  BOOST_TEST(letters().empty());
  BOOST_TEST(left().size() == 300u);
  BOOST_TEST(most_attempts() <= 2);
  BOOST_TEST(consumer->status().held_off == "the database is away");
  BOOST_TEST(held_off() == "the database is away");
  BOOST_TEST(consumer->begun.size() < 100u);  // probes, and no storm
  is_away = false;
  pass_in_steps(8s);
  BOOST_TEST(left().empty());
  BOOST_TEST(letters().empty());
  BOOST_TEST(consumer->status().held_off.empty());
  pass_in_steps(2s);
  BOOST_TEST(held_off().empty());
}

// So few keys that fewer messages fail than it takes to hold off.
BOOST_AUTO_TEST_CASE(with_two_keys_a_minute_of_an_outage_parks_nothing_and_all_goes_on_within_seconds) {
  consume_in(message_order::by_key, 256);
  for (int i = 0; i < 10; ++i) put({"one", "two"});
  pass_in_steps(60s);
  BOOST_TEST(letters().empty());
  is_away = false;
  pass_in_steps(5s);
  BOOST_TEST(left().empty());
  BOOST_TEST(letters().empty());
}

BOOST_AUTO_TEST_CASE(with_one_key_a_long_outage_parks_its_first_message_and_no_other) {
  consume_in(message_order::by_key, 256);
  for (int i = 0; i < 10; ++i) put({"one"});
  pass_in_steps(600s);
  BOOST_TEST(letters().size() == 1u);
  BOOST_TEST(!consumer->status().held_off.empty());
  is_away = false;
  pass_in_steps(5s);
  BOOST_TEST(left().empty());
  BOOST_TEST(letters().size() == 1u);
}

BOOST_AUTO_TEST_CASE(without_an_order_one_message_alone_goes_on_within_seconds) {
  consume_in(message_order::none, 256);
  put({"one"});
  pass_in_steps(60s);
  is_away = false;
  pass_in_steps(5s);
  BOOST_TEST(left().empty());
  BOOST_TEST(letters().empty());
}

BOOST_AUTO_TEST_CASE(in_strict_order_a_minute_of_an_outage_parks_nothing_and_all_goes_on_within_seconds) {
  consume_in(message_order::strict, 256);
  put(many(20));
  pass_in_steps(60s);
  BOOST_TEST(letters().empty());
  is_away = false;
  pass_in_steps(5s);
  BOOST_TEST(left().empty());
  BOOST_TEST(letters().empty());
  BOOST_TEST(done() == many(20), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(in_strict_order_a_long_outage_parks_the_first_message_and_no_other) {
  consume_in(message_order::strict, 256);
  put(many(20));
  pass_in_steps(600s);
  BOOST_TEST(letters().size() == 1u);
  BOOST_TEST(consumer->status().held_off == "the database is away");
  is_away = false;
  pass_in_steps(5s);
  BOOST_TEST(left().empty());
  BOOST_TEST(letters().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_message_that_can_never_succeed_is_parked_alone_or_among_others) {
  check_poison(message_order::none);
}

BOOST_AUTO_TEST_CASE(in_strict_order_a_message_that_can_never_succeed_is_parked_alone_or_among_others) {
  check_poison(message_order::strict);
}

BOOST_AUTO_TEST_CASE(a_message_that_stays_in_process_is_shown_within_a_minute_and_until_it_is_done) {
  is_away = false;
  consume_in(message_order::strict, 16);
  consumer->is_held = true;
  put({"slow", "next"});
  const auto is_still = [this] {
    return detail::read_notes(detail::parse_record(record_of_term())->notes).figures.flag("still").value_or(false);
  };
  pass_in_steps(44s);
  BOOST_TEST(!is_still());
  pass_in_steps(2s);
  BOOST_TEST(is_still());
  let_go("slow");
  pass_in_steps(2s);
  BOOST_TEST(!is_still());
  let_go("next");
  pass_in_steps(2s);
  BOOST_TEST(done() == (strings{"slow", "next"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(effects_that_are_forbidden_hold_the_consumer_off) {
  is_away = false;
  refusal = [&](const operation& what) {
    return what.path == "/result" ? make_error_code(errc::no_auth) : error_code();
  };
  consume_in(message_order::strict, 1);
  put(many(5));
  pass_in_steps(200s);
  BOOST_TEST(letters().empty());
  BOOST_TEST(most_attempts() == 1);
  BOOST_TEST(!consumer->status().held_off.empty());
  refusal = nullptr;
  pass_in_steps(5s);
  BOOST_TEST(left().empty());
}

/// A service can say 0 and be busy all the same.
BOOST_AUTO_TEST_CASE(a_hold_off_of_0_does_not_spin) {
  consume({});
  consumer->is_held = false;
  std::size_t calls = 0;
  consumer->at_once = [&](const message&) {
    return ++calls < 1'000 ? message_outcome::hold_off(0ms, "busy") : message_outcome::done();
  };
  put({"1"});
  BOOST_TEST(calls == 1u);
  for (int i = 0; i < 10; ++i) pass(10ms);
  BOOST_TEST(calls == 11u);
  BOOST_TEST(consumer->attempts.back() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
