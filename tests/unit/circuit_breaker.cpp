// Which attempts count, and what is tried, while all attempts fail. Without a session.
#include "delivery/circuit_breaker.hpp"

#include <algorithm>
#include <chrono>
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

// Messages that can never succeed, many of them one behind another, in front of good ones. Time is simulated.
namespace {

/// Bad messages are there at the beginning; good ones come behind them, one in each `good_every`. A call takes a step.
struct crowd_case {
  static constexpr auto step = 10ms;
  static constexpr auto good_every = 50ms;

  crowd_case(std::uint64_t how_many_bad, std::size_t room, std::size_t calls)
      : bad(how_many_bad), window({message_order::none, room, calls, true, {}}), breaker(window, options) {
    options.order = message_order::none;
  }

  void run(lease_clock::duration length) {
    for (const auto end = now + length; now < end; now += step) {
      finish();
      receive();
      begin();
    }
  }
  void finish() {
    std::vector<message_in_hand*> working;
    for (const auto& [since, number] : window.stages().working()) working.push_back(&window.at(number));
    std::vector<message_in_hand*> done;
    for (auto* each : working) {
      if (each->number > bad && is_served())
        done.push_back(each);
      else
        fail(*each);
    }
    if (done.empty()) return;
    longest_stop = std::max(longest_stop, now - last_done);
    last_done = now;
    for (auto* each : done) window.remove(*each);
    breaker.on_success(now);
  }
  bool is_served() const {
    const auto part = (now - began) % 1s;
    return !is_served_in_part || (part >= 500ms && part <= 700ms);
  }
  void fail(message_in_hand& which) {
    if (breaker.spares(which, message_outcome::again("bad"), false, now)) return;
    if (which.what->attempts >= options.retry.attempts) {
      window.remove(which);
      if (++parked == bad) parked_by = now;
      return;
    }
    auto next = *which.what;
    const auto pause = pause_after(options.retry, next.attempts++, 0);
    window.load(which, std::move(next));
    breaker.rest(which, pause, false, now);
  }
  void receive() {
    const auto there = bad + (do_good_come ? static_cast<std::uint64_t>((now - began) / good_every) : 0);
    for (auto room = window.room(); room > 0 && received < there; --room) {
      message made;
      made.name = std::to_string(++received);
      made.attempts = 1;
      window.add(made, made.name, now);
    }
    for (auto* each : window.missing()) window.load(*each, *each->what);
  }
  void begin() {
    if (breaker.lets_begin(now)) breaker.prepare_probe(now);
    while (breaker.lets_begin(now)) {
      auto* next = breaker.next(now);
      if (!next) return;
      window.begin(*next, now);
      breaker.on_begun();
      ++tries[next->number];
    }
  }

  const std::uint64_t bad;
  bool do_good_come = true;
  bool is_served_in_part = false;  // of each second, as behind a quota that others use up
  queue_consumer_options options;
  delivery_window window;
  circuit_breaker breaker;
  const lease_clock::time_point began{1h};
  lease_clock::time_point now = began;
  lease_clock::time_point last_done = began;
  lease_clock::duration longest_stop{};
  lease_clock::time_point parked_by{};
  std::uint64_t received = 0;
  std::uint64_t parked = 0;
  std::map<std::uint64_t, int> tries;
};

void check_crowd(crowd_case& at, lease_clock::duration longest_stop) {
  at.run(15min);
  const auto seconds = [](auto time) { return std::chrono::duration_cast<std::chrono::seconds>(time).count(); };
  BOOST_TEST_MESSAGE("stopped for " << seconds(at.longest_stop) << " s, all parked after "
                                    << seconds(at.parked_by - at.began) << " s");
  BOOST_TEST((at.longest_stop <= longest_stop), "stopped for " << seconds(at.longest_stop) << " s");
  BOOST_TEST(at.parked == at.bad);
  BOOST_TEST((at.parked_by <= at.began + 10min));
  BOOST_TEST((at.now - at.last_done <= 100ms));  // nothing is held up at the end
}

}  // namespace

BOOST_AUTO_TEST_SUITE(circuit_breaker_crowds)

BOOST_AUTO_TEST_CASE(as_many_as_the_calls_stop_the_others_for_a_second) {
  crowd_case at(8, 256, 8);
  check_crowd(at, 1100ms);
}

BOOST_AUTO_TEST_CASE(fewer_than_the_window_stop_the_others_for_a_second_at_a_time) {
  crowd_case few_calls(100, 256, 8);
  check_crowd(few_calls, 1100ms);
  crowd_case many_calls(100, 256, 64);
  check_crowd(many_calls, 1100ms);
}

BOOST_AUTO_TEST_CASE(each_one_beyond_the_window_stops_the_others_for_four_seconds) {
  crowd_case at(100, 64, 8);
  check_crowd(at, (100 - 64) * 4s);
  crowd_case one_by_one(20, 1, 1);
  check_crowd(one_by_one, 20 * 4s);
}

BOOST_AUTO_TEST_CASE(while_an_attempt_at_the_first_message_would_not_count_the_others_are_tried) {
  crowd_case at(3, 3, 3);
  at.do_good_come = false;
  at.options.retry.outage = 5s;
  at.options.retry.attempts = 20;  // the pauses are much longer than an outage at last
  at.run(30min);
  for (std::uint64_t each = 2; each <= 3; ++each)
    BOOST_TEST(4 * at.tries[each] > at.tries[1], at.tries[each] << " beside " << at.tries[1]);
}

BOOST_AUTO_TEST_CASE(a_dependency_that_serves_for_a_part_of_each_second_is_met_by_a_probe) {
  crowd_case at(0, 64, 8);
  at.is_served_in_part = true;
  at.run(1min);
  BOOST_TEST((at.last_done > at.began));
}

BOOST_AUTO_TEST_SUITE_END()
