// Random calls of a keyed limiter, compared with a small model after each of them.
#include <algorithm>
#include <map>
#include <optional>
#include <random>

#include "unit/limiting.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

enum class call_state { waits, is_through, is_declined, is_cancelled };

/// What a keyed limiter should do. It looks at all keys instead of keeping a heap of their ends.
class keyed_model {
 public:
  using time_point = lease_clock::time_point;
  static constexpr auto interval = 10ms;
  static constexpr int burst = 3;
  static constexpr std::size_t most_keys = 12;

  explicit keyed_model(std::optional<keep> coalesce) : coalesce_(coalesce) {}

  bool try_acquire(std::size_t key, time_point now) {
    const auto found = keys_.find(key);
    if (found != keys_.end() && (!found->second.waiting.empty() || due(found->second) > now)) return false;
    auto& of = use(key, now);
    of.back = std::max(of.back, now) + interval;
    ++acquired_;
    return true;
  }
  void acquire(int who, std::size_t key, time_point now) {
    if (try_acquire(key, now)) return set(who, call_state::is_through);
    auto& waiting = use(key, now).waiting;
    set(who, call_state::waits);
    if (coalesce_ == keep::first && !waiting.empty()) return set(who, call_state::is_declined);
    if (coalesce_ == keep::newest && !waiting.empty()) {
      set(waiting.front(), call_state::is_declined);
      waiting.clear();
    }
    waiting.push_back(who);
  }
  void cancel(int who, std::size_t key) {
    if (places_[who] != call_state::waits) return;
    std::erase(keys_[key].waiting, who);
    set(who, call_state::is_cancelled);
  }
  void hold_off(std::size_t key, lease_clock::duration length, time_point now) {
    auto& of = use(key, now);
    of.back = std::max(of.back, now + length + (burst - 1) * interval);
  }
  void pass(time_point now) {
    for (auto& [key, of] : keys_) {
      for (; !of.waiting.empty() && due(of) <= now; of.waiting.pop_front()) {
        set(of.waiting.front(), call_state::is_through);
        of.back += interval;
        ++acquired_;
      }
    }
  }

  call_state of(int who) const { return places_.at(who); }
  std::uint64_t acquired() const { return acquired_; }
  std::uint64_t evicted() const { return evicted_; }

 private:
  struct limit {
    time_point back{};  ///< All of its credit is there then.
    std::deque<int> waiting{};
  };
  static time_point due(const limit& of) { return of.back - (burst - 1) * interval; }
  void set(int who, call_state where) { places_[who] = where; }

  /// The limit of this key. Those that have all their credit make room for it; if there are none, the nearest to it.
  limit& use(std::size_t key, time_point now) {
    std::erase_if(keys_, [&](const auto& each) { return each.second.back <= now; });
    if (keys_.contains(key) || keys_.size() < most_keys) return keys_[key];
    auto first = keys_.end();
    for (auto each = keys_.begin(); each != keys_.end(); ++each) {
      if (!each->second.waiting.empty()) continue;
      if (first == keys_.end() || each->second.back < first->second.back) first = each;
    }
    keys_.erase(first);
    ++evicted_;
    return keys_[key];
  }

  std::optional<keep> coalesce_;
  std::map<std::size_t, limit> keys_;
  std::map<int, call_state> places_;
  std::uint64_t acquired_ = 0;
  std::uint64_t evicted_ = 0;
};

class random_calls : public limiting {
 public:
  random_calls(std::optional<keep> coalesce, unsigned seed)
      : expected_(coalesce),
        limiter_(make_keyed({.rate = 1,
                             .per = keyed_model::interval,
                             .burst = keyed_model::burst,
                             .coalesce = coalesce,
                             .most_keys = keyed_model::most_keys})),
        random_(seed) {}

  void run(int so_many) {
    for (int i = 0; i < so_many; ++i) {
      pass(std::chrono::nanoseconds(1 + draw(1000)));  // no two keys have the same end
      step();
      settle();
      check();
    }
    pass(1h);
    check();
    BOOST_TEST(callers_.empty());
    BOOST_TEST(timers() == 0u);
    BOOST_TEST(waits_ > so_many / 50);
    BOOST_TEST(expected_.evicted() > 100u);
  }

 private:
  static constexpr std::size_t key_count = 30;
  static constexpr std::size_t keys_of_waiters = 8;  // fewer than the table has room for, so it never has to grow

  struct caller {
    int number;
    std::size_t key;
    recorder<> call;
  };

  std::size_t draw(std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_); }

  void step() {
    const auto what = draw(100);
    if (what < 35) {
      const auto key = draw(key_count);
      BOOST_TEST_REQUIRE(limiter_.try_acquire(std::to_string(key)) == expected_.try_acquire(key, now()));
    } else if (what < 60) {
      acquire(draw(keys_of_waiters));
    } else if (what < 70 && !callers_.empty()) {
      auto& one = callers_[draw(callers_.size())];
      one.call.cancel();
      expected_.cancel(one.number, one.key);
    } else if (what < 75) {
      const auto key = draw(key_count);
      const std::chrono::microseconds length(1 + draw(30'000));
      limiter_.hold_off(std::to_string(key), length);
      expected_.hold_off(key, length, now());
    } else {
      pass(std::chrono::microseconds(draw(50) ? draw(2'000) : draw(200'000)));
    }
  }
  void acquire(std::size_t key) {
    auto& one = callers_.emplace_back(caller{++last_, key, recorder<>(io().get_executor())});
    limiter_.async_acquire(std::to_string(key), one.call.token());
    expected_.acquire(one.number, key, now());
    waits_ += expected_.of(one.number) == call_state::waits;
  }
  void pass(std::chrono::nanoseconds length) {
    advance(length);
    expected_.pass(now());
  }

  static call_state seen_by(const caller& one) {
    if (!one.call.done()) return call_state::waits;
    if (one.call.error() == errc::declined) return call_state::is_declined;
    return one.call.error() ? call_state::is_cancelled : call_state::is_through;
  }
  void check() {
    for (const auto& one : callers_) {
      BOOST_TEST_REQUIRE((seen_by(one) == expected_.of(one.number)));
      BOOST_TEST_REQUIRE(one.call.calls() <= 1);
    }
    std::erase_if(callers_, [](const auto& one) { return one.call.done(); });
    const auto told = limiter_.statistics();
    BOOST_TEST_REQUIRE(told.acquired == expected_.acquired());
    BOOST_TEST_REQUIRE(told.evicted == expected_.evicted());
    BOOST_TEST_REQUIRE(told.waiting == callers_.size());
    BOOST_TEST_REQUIRE(told.keys <= keyed_model::most_keys);
  }

  keyed_model expected_;
  keyed_limiter limiter_;
  std::mt19937 random_;
  std::deque<caller> callers_;
  int last_ = 0;
  int waits_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(keyed_limiter_random)

BOOST_AUTO_TEST_CASE(it_does_as_the_model_where_all_wait) { random_calls(std::nullopt, 1).run(50'000); }

BOOST_AUTO_TEST_CASE(it_does_as_the_model_where_the_first_one_waits) { random_calls(keep::first, 2).run(50'000); }

BOOST_AUTO_TEST_CASE(it_does_as_the_model_where_the_newest_one_waits) { random_calls(keep::newest, 3).run(50'000); }

BOOST_AUTO_TEST_SUITE_END()
