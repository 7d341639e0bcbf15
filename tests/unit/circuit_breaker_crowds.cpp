// Messages that can never succeed, many of them one behind another, in front of good ones. Time is simulated.
#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "delivery/circuit_breaker.hpp"
#include "delivery/retry_pause.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace std::chrono_literals;

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
