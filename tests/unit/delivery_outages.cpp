// A consumer whose messages all fail because something that they need is away, on a server that the test makes.
#include <algorithm>
#include <string>

#include "election/term_record.hpp"
#include "notes/consumer_notes.hpp"
#include "unit/delivering.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
