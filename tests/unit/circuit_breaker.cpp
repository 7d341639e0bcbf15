// Which attempts count, and what is tried, while all attempts fail. Without a session.
#include "delivery/circuit_breaker.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace std::chrono_literals;

namespace {

using message_names = std::vector<std::string>;

struct breaker_case {
  explicit breaker_case(message_order order)
      : options(options_with(order)),
        window({.order = order, .window = 16, .parallel = 16}),
        breaker(window, options) {}

  static queue_consumer_options options_with(message_order order) {
    queue_consumer_options how;
    how.order = order;
    how.retry.jitter = 0;
    return how;
  }
  void add(const message_names& all) {
    for (const auto& each : all) add(each, options.order == message_order::strict ? "" : each);
  }
  void add(const std::string& name, const std::string& lane) {
    message made;
    made.name = name;
    made.attempts = 1;
    window.add(std::move(made), lane, now);
  }
  /// What can be begun at present.
  message_names begin() {
    message_names begun;
    if (breaker.lets_begin(now)) breaker.prepare_probe(now);
    while (breaker.lets_begin(now)) {
      auto* next = breaker.next(now);
      if (!next) break;
      window.begin(*next, now);
      breaker.on_begun();
      of[next->what->name] = next;
      begun.push_back(next->what->name);
    }
    return begun;
  }
  /// The attempt fails. Says whether it counts; then the message rests for a second.
  bool fails(const std::string& name, bool is_forbidden = false, std::chrono::milliseconds pause = 1s) {
    auto& which = *of.at(name);
    if (breaker.spares(which, message_outcome::again("away"), is_forbidden, now)) return false;
    breaker.rest(which, pause, false, now);
    return true;
  }
  void succeeds(const std::string& name) {
    window.remove(*of.at(name));
    breaker.on_success(now);
  }
  /// As time passes, the next message is begun, and fails. Each attempt that counts is told.
  std::string next_fails() {
    for (int i = 0; i < 100; ++i) {
      const auto begun = begin();
      BOOST_TEST_REQUIRE(begun.size() <= 1u);
      if (!begun.empty()) return begun.front() + (fails(begun.front()) ? " counts" : "");
      now += 100ms;
    }
    return "";
  }

  queue_consumer_options options;
  delivery_window window;
  circuit_breaker breaker;
  lease_clock::time_point now{1h};
  std::map<std::string, message_in_hand*> of;
};

}  // namespace

#define CHECK_NAMES(list, ...) BOOST_TEST((list) == (message_names{__VA_ARGS__}), boost::test_tools::per_element())

BOOST_AUTO_TEST_SUITE(circuit_breakers)

BOOST_AUTO_TEST_CASE(attempts_at_different_messages_that_all_fail_do_not_count_from_the_third_on) {
  breaker_case at(message_order::none);
  at.add({"a", "b", "c", "d"});
  CHECK_NAMES(at.begin(), "a", "b", "c", "d");
  BOOST_TEST(at.fails("a"));
  BOOST_TEST(at.fails("b"));
  BOOST_TEST(!at.breaker.is_open());
  BOOST_TEST(!at.fails("c"));
  BOOST_TEST(at.breaker.is_open());
  BOOST_TEST(at.breaker.reason() == "away");
  BOOST_TEST(!at.fails("d"));
}

BOOST_AUTO_TEST_CASE(one_message_that_fails_again_and_again_is_at_fault_itself) {
  breaker_case at(message_order::none);
  at.add({"a", "b"});
  for (int attempt = 1; attempt <= 20; ++attempt) {
    at.begin();
    BOOST_TEST(at.fails("a"));
    at.now += 1s;
  }
  BOOST_TEST(!at.breaker.is_open());
}

BOOST_AUTO_TEST_CASE(a_success_in_between_clears_those_that_have_failed) {
  breaker_case at(message_order::none);
  at.add({"a", "b", "c", "d", "e"});
  at.begin();
  at.fails("a");
  at.fails("b");
  at.succeeds("c");
  BOOST_TEST(at.fails("d"));
  BOOST_TEST(at.fails("e"));
  BOOST_TEST(!at.breaker.is_open());
}

BOOST_AUTO_TEST_CASE(probes_come_one_at_a_time_with_pauses_that_grow_up_to_a_few_seconds) {
  breaker_case at(message_order::none);
  at.add({"a", "b", "c", "d", "e", "f", "g", "h"});
  at.begin();
  for (const auto* each : {"a", "b", "c", "d", "e", "f", "g", "h"}) at.fails(each);
  std::vector<lease_clock::duration> pauses;
  for (int i = 0; i < 5; ++i) {
    const auto before = at.now;
    BOOST_TEST(!at.next_fails().empty());
    pauses.push_back(at.now - before);
  }
  BOOST_TEST((pauses == std::vector<lease_clock::duration>{1s, 2s, 4s, 4s, 4s}));
}

BOOST_AUTO_TEST_CASE(probes_take_turns_among_those_that_have_failed) {
  breaker_case at(message_order::none);
  at.add({"a", "b", "c", "d", "e"});
  at.begin();
  for (const auto* each : {"a", "b", "c", "d", "e"}) at.fails(each);
  message_names probes;
  for (int i = 0; i < 40; ++i) probes.push_back(at.next_fails().substr(0, 1));
  for (const auto* each : {"a", "b", "c", "d", "e"})
    BOOST_TEST(std::ranges::count(probes, each) >= 7, each << " of " << probes.size());
}

BOOST_AUTO_TEST_CASE(the_message_that_came_last_is_tried_before_others_that_were_not) {
  breaker_case at(message_order::none);
  at.add({"a", "b", "c"});
  at.begin();
  for (const auto* each : {"a", "b", "c"}) at.fails(each);
  at.add({"d", "e", "f"});
  message_names probes{at.next_fails(), at.next_fails(), at.next_fails()};
  CHECK_NAMES(probes, "f", "e", "d");
}

BOOST_AUTO_TEST_CASE(a_message_that_fails_behind_a_success_of_others_is_at_fault_itself) {
  breaker_case at(message_order::none);
  at.add({"a", "b", "c", "d"});
  at.begin();
  for (const auto* each : {"a", "b", "c"}) at.fails(each);
  at.now += 1s;
  at.succeeds("d");
  at.now += 1s;
  CHECK_NAMES(at.begin(), "a", "b", "c");
  for (const auto* each : {"a", "b", "c"}) BOOST_TEST(at.fails(each));
  BOOST_TEST(!at.breaker.is_open());
  at.add({"e", "f", "g"});
  at.begin();
  for (const auto* each : {"e", "f", "g"}) at.fails(each);
  BOOST_TEST(at.breaker.is_open());
  message_names probes;
  for (int i = 0; i < 5; ++i) probes.push_back(at.next_fails());
  CHECK_NAMES(probes, "f", "e", "c", "b", "a");  // and none counts
}

BOOST_AUTO_TEST_CASE(a_message_that_has_just_come_is_among_the_next_probes) {
  breaker_case at(message_order::none);
  at.add({"a", "b", "c"});
  at.begin();
  for (const auto* each : {"a", "b", "c"}) at.fails(each);
  for (int i = 0; i < 7; ++i) at.next_fails();
  at.add({"new"});
  message_names probes{at.next_fails(), at.next_fails(), at.next_fails()};
  BOOST_TEST(std::ranges::count(probes, "new") >= 1);
}

BOOST_AUTO_TEST_CASE(with_the_first_success_all_that_was_spared_is_tried_at_once) {
  breaker_case at(message_order::none);
  at.add({"a", "b", "c", "d", "e"});
  at.begin();
  for (const auto* each : {"a", "b", "c", "d", "e"}) at.fails(each);
  at.now += 30s;
  const auto probe = at.begin();
  BOOST_TEST_REQUIRE(probe.size() == 1u);
  BOOST_TEST(at.begin().empty());  // not before it is known what becomes of the probe
  at.succeeds(probe.front());
  BOOST_TEST(!at.breaker.is_open());
  BOOST_TEST(at.begin().size() == 4u);
}

BOOST_AUTO_TEST_CASE(it_closes_when_nothing_is_left_that_could_fail) {
  breaker_case at(message_order::none);
  at.add({"a", "b", "c"});
  at.begin();
  for (const auto* each : {"a", "b", "c"}) at.fails(each);
  for (const auto* each : {"a", "b", "c"}) at.window.remove(*at.of.at(each));
  at.now += 10s;
  BOOST_TEST(at.begin().empty());
  BOOST_TEST(!at.breaker.is_open());
}

// Three messages that can never succeed are all there are: nothing tells them from an outage.
BOOST_AUTO_TEST_CASE(one_attempt_in_the_time_of_an_outage_counts_that_of_the_first_message) {
  for (const bool do_others_come : {false, true}) {
    breaker_case at(message_order::none);
    at.add({"a", "b", "c"});
    at.begin();
    for (const auto* each : {"a", "b", "c"}) at.fails(each);
    std::vector<std::string> counted;
    for (const auto opened = at.now; at.now < opened + 61min;) {
      if (do_others_come) at.add({std::to_string(at.of.size())});
      const auto what = at.next_fails();
      if (what.ends_with("counts")) counted.push_back(what);
    }
    BOOST_TEST(counted.size() >= 5u);
    BOOST_TEST(counted.size() <= 6u);
    for (const auto& each : counted) BOOST_TEST(each == "a counts");
  }
}

BOOST_AUTO_TEST_CASE(a_pause_of_0_turns_it_off) {
  breaker_case at(message_order::none);
  at.options.retry.outage = 0ms;
  at.add({"a", "b", "c", "d"});
  at.begin();
  for (const auto* each : {"a", "b", "c", "d"}) BOOST_TEST(at.fails(each));
  BOOST_TEST(!at.breaker.is_open());
}

BOOST_AUTO_TEST_CASE(in_strict_order_the_first_message_is_tried_between_the_attempts_that_count) {
  breaker_case at(message_order::strict);
  at.add({"a", "b"});
  CHECK_NAMES(at.begin(), "a");
  auto& first = *at.of.at("a");
  BOOST_TEST(!at.breaker.spares(first, message_outcome::again("away"), false, at.now));
  at.breaker.rest(first, 64s, false, at.now);
  const auto failed = at.now;
  BOOST_TEST(at.next_fails() == "a");
  BOOST_TEST((at.now - failed == 4s));
  while (at.now < failed + 60s) BOOST_TEST(at.next_fails() == "a");
  BOOST_TEST(at.next_fails() == "a counts");
  BOOST_TEST(!at.breaker.is_open());
}

// Two keys that rest bar all others, and nothing has succeeded: a service may be away.
BOOST_AUTO_TEST_CASE(where_no_other_message_succeeds_one_is_tried_between_the_attempts_that_count) {
  breaker_case at(message_order::by_key);
  at.add({"a", "b"});
  CHECK_NAMES(at.begin(), "a", "b");
  for (const auto* each : {"a", "b"}) BOOST_TEST(at.fails(each, false, 64s));
  const auto failed = at.now;
  for (at.now += 4s; at.now < failed + 60s; at.now += 4s) {
    CHECK_NAMES(at.begin(), "a", "b");
    for (const auto* each : {"a", "b"}) BOOST_TEST(!at.fails(each));
  }
  BOOST_TEST(!at.breaker.is_open());
}

BOOST_AUTO_TEST_CASE(a_message_that_fails_among_others_that_succeed_keeps_its_pauses) {
  breaker_case at(message_order::by_key);
  at.add({"a", "b", "c"});
  at.begin();
  at.fails("a");
  at.now += 500ms;
  at.succeeds("b");
  at.now += 500ms;
  CHECK_NAMES(at.begin(), "a");
  BOOST_TEST(at.fails("a", false, 64s));
  BOOST_TEST((at.window.stages().next_time() == at.now + 64s));
}

BOOST_AUTO_TEST_CASE(the_second_message_of_a_key_that_fails_is_spared) {
  breaker_case at(message_order::by_key);
  at.add("a", "key");
  at.add("b", "key");
  CHECK_NAMES(at.begin(), "a");
  BOOST_TEST(at.fails("a"));
  at.window.remove(*at.of.at("a"));  // it is parked
  CHECK_NAMES(at.begin(), "b");
  BOOST_TEST(!at.fails("b"));
  BOOST_TEST(at.breaker.is_open());
}

BOOST_AUTO_TEST_CASE(in_strict_order_a_pause_that_was_asked_for_is_kept) {
  breaker_case at(message_order::strict);
  at.add({"a"});
  at.begin();
  auto& first = *at.of.at("a");
  const auto locked = message_outcome::again(60s, "locked");
  BOOST_TEST(!at.breaker.spares(first, locked, false, at.now));
  at.breaker.rest(first, 60s, true, at.now);
  BOOST_TEST((at.window.stages().next_time() == at.now + 60s));
}

BOOST_AUTO_TEST_CASE(in_strict_order_an_attempt_that_does_not_count_is_followed_by_a_pause_whatever_was_asked_for) {
  breaker_case at(message_order::strict);
  at.add({"a"});
  at.begin();
  auto& first = *at.of.at("a");
  BOOST_TEST(!at.breaker.spares(first, message_outcome::again("away"), false, at.now));
  at.breaker.rest(first, 64s, false, at.now);
  at.now += 4s;
  CHECK_NAMES(at.begin(), "a");
  BOOST_TEST(at.breaker.spares(first, message_outcome::again(0ms, "away"), false, at.now));
  BOOST_TEST((at.window.stages().next_time() == at.now + 1s));
}

BOOST_AUTO_TEST_CASE(in_strict_order_the_second_message_that_fails_is_spared) {
  breaker_case at(message_order::strict);
  at.add({"a", "b"});
  at.begin();
  BOOST_TEST(at.fails("a"));
  at.window.remove(*at.of.at("a"));  // it is parked
  CHECK_NAMES(at.begin(), "b");
  BOOST_TEST(!at.fails("b"));
  BOOST_TEST(at.breaker.is_open());
  BOOST_TEST(at.next_fails() == "b");
}

BOOST_AUTO_TEST_CASE(rights_that_are_missing_are_nobodys_attempt_until_others_succeed) {
  breaker_case at(message_order::none);
  at.add({"a", "b"});
  at.begin();
  BOOST_TEST(!at.fails("a", true));
  BOOST_TEST(at.breaker.is_open());
  at.now += 1s;
  at.succeeds("b");
  at.now += 1s;
  CHECK_NAMES(at.begin(), "a");
  BOOST_TEST(at.fails("a", true));
  BOOST_TEST(!at.breaker.is_open());
}

BOOST_AUTO_TEST_SUITE_END()
