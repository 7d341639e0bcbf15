// The limit of a consumer's calls, on a server that the test makes.
#include <algorithm>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>

#include <boost/test/unit_test.hpp>

#include "delivery/delivery_calls.hpp"
#include "election/term_record.hpp"
#include "notes/consumer_notes.hpp"
#include "support/bound_judge.hpp"
#include "unit/delivering.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace zkrecipes::detail;
using namespace std::chrono_literals;

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

// The limit of a consumer's calls across terms: the level that a clean hand-over passes on, and a forced one does not.
namespace {

struct limited_term : delivering {
  void consume_at(std::chrono::milliseconds per, std::uint64_t burst) {
    queue_consumer_options options;
    options.order = message_order::none;
    options.window = options.parallel = 16;
    options.limit = message_limit{.rate = 1, .per = per, .burst = burst};
    consume(std::move(options));
  }
  /// The record that a predecessor has left. `notes`: more fields of its consumer's notes.
  static std::string left_record(const std::string& phase, const std::string& notes) {
    return R"({"zkrecipes":"term","epoch":7,"phase":")" + phase +
           R"(","how":"clean","hand_over_deadline_ms":0,"leader":{"id":"a","node":"n","token":5},)" +
           R"("consumer":{"epoch":7,"crashes":0)" + notes + "}}";
  }
};

/// A consumer with 100 ms for each call and a burst of 3, behind this record if somebody has written one.
struct limited_successor : limited_term {
  explicit limited_successor(const std::optional<std::string>& record) {
    if (record) write_record(*record);
    consume_at(100ms, 3);
    consumer->is_held = false;
    put({"1", "2", "3", "4"});
  }
  std::size_t begun() const { return consumer->begun.size(); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_limit_terms, limited_term)

BOOST_AUTO_TEST_CASE(the_next_term_goes_on_with_what_is_left) {
  consume_at(1s, 2);
  consumer->is_held = false;
  put({"1", "2", "3"});
  pass(400ms);
  coordinator->resign();
  serve_all();
  BOOST_TEST(coordinator->status().epoch == 2);
  CHECK_LIST(consumer->begun, "1", "2");
  pass(599ms);
  CHECK_LIST(consumer->begun, "1", "2");
  pass(1ms);
  CHECK_LIST(consumer->begun, "1", "2", "3");
}

BOOST_AUTO_TEST_CASE(a_term_that_begins_nothing_passes_on_what_it_got) {
  consume_at(1s, 1);
  consumer->is_held = false;
  put({"1", "2"});
  for (int terms = 2; terms <= 5; ++terms) {
    pass(100ms);
    coordinator->resign();
    serve_all();
    BOOST_TEST(coordinator->status().epoch == terms);
  }
  CHECK_LIST(consumer->begun, "1");
  pass(599ms);
  CHECK_LIST(consumer->begun, "1");
  pass(1ms);
  CHECK_LIST(consumer->begun, "1", "2");
}

BOOST_AUTO_TEST_CASE(a_hold_off_that_a_call_asks_for_in_the_hand_over_reaches_the_next_term) {
  consume_at(1ms, 10);
  put({"1", "2"});
  let_go("2");
  coordinator->resign();
  serve_all();
  BOOST_TEST(coordinator->status().epoch == 1);
  let_go("1", message_outcome::hold_off(500ms, "busy"));
  BOOST_TEST(coordinator->status().epoch == 2);
  pass(499ms);
  CHECK_LIST(consumer->begun, "1", "2");
  pass(1ms);
  CHECK_LIST(consumer->begun, "1", "2", "1");
  BOOST_TEST(consumer->attempts.back() == 1);
}

BOOST_AUTO_TEST_CASE(a_pause_of_0_leaves_the_next_term_its_credit) {
  consume_at(100ms, 3);
  put({"1"});
  let_go("1", message_outcome::hold_off(0ms, "busy"));
  pass(10ms);  // each lasts so long
  coordinator->resign();
  serve_all();
  let_go("1");
  BOOST_TEST(coordinator->status().epoch == 2);
  put({"2", "3"});
  CHECK_LIST(consumer->begun, "1", "1", "2");  // a burst of 3
}

BOOST_AUTO_TEST_CASE(the_record_tells_the_level_only_at_the_end_of_a_term) {
  consume_at(1s, 1);
  put({"1"});
  pass(200ms);
  const auto level = [this] { return detail::read_notes(detail::parse_record(record_of_term())->notes).limit_level; };
  BOOST_TEST(!level());
  coordinator->resign();
  serve_all();
  BOOST_TEST((detail::parse_record(record_of_term())->phase == term_phase::handing_over));
  BOOST_TEST((level() == 800ms));
  pass(300ms);
  coordinator->stop();
  let_go("1");
  BOOST_TEST((detail::parse_record(record_of_term())->phase == term_phase::retired));
  BOOST_TEST((level() == 500ms));
}

BOOST_AUTO_TEST_CASE(the_first_term_of_all_has_a_whole_burst) {
  BOOST_TEST(limited_successor(std::nullopt).begun() == 3u);
}

BOOST_AUTO_TEST_CASE(the_first_term_behind_a_record_that_was_emptied_begins_without_credit) {
  limited_successor next("");
  BOOST_TEST(next.coordinator->status().epoch == 1);
  BOOST_TEST(next.begun() == 0u);
  next.pass(99ms);
  BOOST_TEST(next.begun() == 0u);
  next.pass(1ms);
  BOOST_TEST(next.begun() == 1u);
}

BOOST_AUTO_TEST_CASE(a_level_that_is_told_counts_from_the_begin_of_the_term) {
  BOOST_TEST(limited_successor(left_record("retired", R"(,"limit_level_us":0)")).begun() == 3u);
  BOOST_TEST(limited_successor(left_record("retired", R"(,"limit_level_us":100000)")).begun() == 2u);
  BOOST_TEST(limited_successor(left_record("retired", R"(,"limit_level_us":100001)")).begun() == 1u);
  limited_successor behind_a_hold_off(left_record("retired", R"(,"limit_level_us":1200000)"));
  behind_a_hold_off.pass(999ms);
  BOOST_TEST(behind_a_hold_off.begun() == 0u);
  behind_a_hold_off.pass(1ms);
  BOOST_TEST(behind_a_hold_off.begun() == 1u);
}

BOOST_AUTO_TEST_CASE(a_forced_term_begins_without_credit) {
  for (const auto* phase : {"executing", "handing_over", "stalled"}) {
    limited_successor next(left_record(phase, R"(,"limit_level_us":0)"));
    BOOST_TEST(next.coordinator->status().epoch == 8);
    BOOST_TEST(next.begun() == 0u, phase);
    next.pass(99ms);
    BOOST_TEST(next.begun() == 0u, phase);
    next.pass(1ms);
    BOOST_TEST(next.begun() == 1u, phase);
  }
}

BOOST_AUTO_TEST_CASE(a_level_that_can_not_be_read_means_no_credit) {
  for (const auto* notes : {"", R"(,"limit_level_us":-1)", R"(,"limit_level_us":"0")", R"(,"limit_level_us":0.5)",
                            R"(,"limit_level_us":9223372036854775807)", R"(,"limit_level_us":null)"}) {
    limited_successor next(left_record("retired", notes));
    BOOST_TEST(next.begun() == 0u, notes);
    next.pass(100ms);
    BOOST_TEST(next.begun() == 1u, notes);
  }
}

BOOST_AUTO_TEST_SUITE_END()

// The bound of a consumer's limit over every window: random costs, pauses, hold-offs, and terms that end in any way.
namespace {

/// A consumer that always has a message of a random cost.
struct limited_terms {
  static constexpr std::int64_t burst = 20;
  static constexpr int many = 100'000;

  limited_terms() {
    limit.cost = [this](const message&) { return draw(0, 9) ? draw(1, 3) : draw(0, burst + 5); };
    item.what = std::make_shared<message>();
    begin_term(now);
  }
  std::uint64_t draw(std::uint64_t low, std::uint64_t high) {
    return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
  }

  void begin_term(std::optional<lease_clock::time_point> arrival) { limiter.emplace(limit, arrival, now); }
  /// Waits until the message may be begun, and begins it.
  void call() {
    const auto due = limiter->due(item, now);
    now = std::max(now, due);
    is_on_time = is_on_time && limiter->due(item, now) <= now;
    limiter->charge(item, now);
    const auto cost = static_cast<std::int64_t>(*item.cost);
    within_bound = within_bound && (cost == 0 || judge.add(now, cost));
    spent += cost;
    item.cost.reset();
  }
  /// The level goes through the record. The successor begins a while later.
  void hand_over() {
    consumer_notes left;
    left.limit_level = std::max(limiter->arrival() - now, lease_clock::duration::zero());
    const auto read = read_notes(to_json(left));
    BOOST_TEST_REQUIRE(read.limit_level.has_value());
    now += std::chrono::microseconds(draw(0, 5'000));
    begin_term(now + *read.limit_level);
  }
  void take_by_force() {
    now += std::chrono::microseconds(draw(0, 5'000));
    begin_term(std::nullopt);
  }

  message_limit limit{.rate = 7, .per = 10ms, .burst = burst};
  std::mt19937_64 random{77};
  lease_clock::time_point now{1h};
  message_in_hand item;
  std::optional<delivery_limiter> limiter;
  test::bound_judge judge{7, 10ms, burst};
  std::int64_t spent = 0;
  bool within_bound = true;
  bool is_on_time = true;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(delivery_limit_bound)

BOOST_AUTO_TEST_CASE(the_whole_rate_can_be_used_and_no_more) {
  limited_terms one;
  const auto begun = one.now;
  for (int calls = 0; calls < one.many; ++calls) one.call();
  BOOST_TEST(one.within_bound);
  BOOST_TEST(one.is_on_time);
  const auto possible = one.burst + (one.now - begun) / 10ms * 7;
  BOOST_TEST(one.spent <= possible + 7);
  BOOST_TEST(one.spent >= possible - 7 - one.burst);
}

BOOST_AUTO_TEST_CASE(the_bound_holds_over_terms_and_hold_offs) {
  limited_terms all;
  for (int calls = 0; calls < all.many; ++calls) {
    all.call();
    if (all.draw(0, 9) == 0) all.now += std::chrono::microseconds(all.draw(0, 100'000));
    if (all.draw(0, 49) == 0) all.limiter->hold_off(all.now + std::chrono::microseconds(all.draw(0, 30'000)));
    if (all.draw(0, 9) == 0) all.hand_over();
    if (all.draw(0, 49) == 0) all.take_by_force();
  }
  BOOST_TEST(all.within_bound);
  BOOST_TEST(all.is_on_time);
}

BOOST_AUTO_TEST_CASE(a_level_of_a_term_with_a_lower_rate_counts_as_the_longest_hold_off_at_most) {
  limited_terms one;
  one.limit = {.rate = 1, .per = 1s, .burst = 5};
  one.item.cost = 1;
  for (const auto level : std::initializer_list<lease_clock::duration>{24h + 5s, 30 * 24h, 732 * 24h}) {
    one.begin_term(one.now + level);
    BOOST_TEST((one.limiter->due(one.item, one.now) == one.now + 24h + 1s));
  }
  one.begin_term(one.now);
  one.limiter->hold_off(one.now + 24h);
  one.begin_term(one.limiter->arrival());
  BOOST_TEST((one.limiter->due(one.item, one.now) == one.now + 24h));
}

BOOST_AUTO_TEST_CASE(a_hold_off_lets_nothing_through_and_does_not_shorten_a_longer_one) {
  limited_terms one;
  one.limit.cost = nullptr;
  one.limiter->hold_off(one.now + 2s);
  one.limiter->hold_off(one.now + 1s);
  BOOST_TEST((one.limiter->due(one.item, one.now) == one.now + 2s));
  one.hand_over();
  const auto due = one.limiter->due(one.item, one.now);
  BOOST_TEST((due >= lease_clock::time_point(1h) + 2s));
}

BOOST_AUTO_TEST_SUITE_END()
