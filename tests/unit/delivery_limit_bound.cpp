// The bound of a consumer's limit over every window: random costs, pauses, hold-offs, and terms that end in any way.
#include <algorithm>
#include <optional>
#include <random>

#include <boost/test/unit_test.hpp>

#include "delivery/delivery_limiter.hpp"
#include "notes/consumer_notes.hpp"
#include "support/bound_judge.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace std::chrono_literals;

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
