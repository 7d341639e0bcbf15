// Random steps at a gate, compared with a small model after each step; and the parts that are arithmetic.
#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gate/gate_shard.hpp"
#include "gate/sip_hash.hpp"
#include "unit/gate_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr int key_count = 5;
constexpr auto safety = 30s;

enum class standing { waits, is_in, has_left, is_evicted, is_declined, is_cancelled };

/// What a gate should do, for all keys.
class gate_model {
 public:
  explicit gate_model(keep which) : which_(which) {}

  void enter(int who, int key, lease_clock::time_point now) {
    if (try_enter(who, key, now)) return;
    auto& waiter = held_[key].waiter;
    if (waiter) set(which_ == keep::first ? who : *waiter, standing::is_declined);
    if (!waiter || which_ == keep::newest) waiter = who;
    if (waiter == who) set(who, standing::waits);
  }
  bool try_enter(int who, int key, lease_clock::time_point now) {
    auto [at, is_free] = held_.try_emplace(key);
    auto& [head, start, waiter] = at->second;
    if (waiter && now >= start + safety) begin(at->second, *waiter, now);  // the timer is late
    const bool may = is_free || now >= start + safety;
    if (may) begin(at->second, who, now);
    return may;
  }
  void leave(int who, int key, lease_clock::time_point now) {
    if (set(who, standing::has_left) != standing::is_in) return;
    auto at = held_.find(key);
    at->second.head = nobody;
    if (at->second.waiter) return begin(at->second, *at->second.waiter, now);
    held_.erase(at);
  }
  void cancel(int who, int key) {
    if (places_[who] != standing::waits) return;
    set(who, standing::is_cancelled);
    held_[key].waiter.reset();
  }
  /// Timers run at their time; those that are late at the beginning.
  void pass(lease_clock::time_point from, lease_clock::time_point now) {
    for (auto& [key, at] : held_) {
      if (at.waiter && now >= at.start + safety) begin(at, *at.waiter, std::max(from, at.start + safety));
    }
  }

  standing of(int who) const { return places_.at(who); }
  std::size_t active() const { return held_.size(); }

 private:
  static constexpr int nobody = -1;
  struct processing {
    int head = nobody;
    lease_clock::time_point start{};
    std::optional<int> waiter{};
  };
  standing set(int who, standing where) { return std::exchange(places_[who], where); }
  void begin(processing& at, int who, lease_clock::time_point now) {
    if (at.head != nobody) set(at.head, standing::is_evicted);
    at = {who, now};
    set(who, standing::is_in);
  }

  keep which_;
  std::map<int, processing> held_;
  std::map<int, standing> places_;
};

class random_steps : public entering {
 public:
  random_steps(keep which, unsigned seed) : expected_(which), gate_(make_gate({safety, which})), random_(seed) {}

  void run(int so_many) {
    for (int i = 0; i < so_many; ++i) {
      step();
      check();
    }
    end();
  }

 private:
  struct caller {
    int number;
    int key;
    entrant call;
    standing seen = standing::waits;
  };

  std::size_t draw(std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_); }

  void step() {
    const auto what = draw(100);
    if (what < 40 || callers_.empty()) {
      enter(static_cast<int>(draw(key_count)));
    } else if (what < 45) {
      try_enter(static_cast<int>(draw(key_count)));
    } else if (what < 75) {
      leave(callers_[draw(callers_.size())]);
    } else if (what < 87) {
      auto& one = callers_[draw(callers_.size())];
      one.call.cancel();
      expected_.cancel(one.number, one.key);
    } else if (what < 97) {
      const auto from = now();
      advance(std::chrono::seconds(draw(20)));
      expected_.pass(from, now());
    } else {
      state().now += std::chrono::seconds(draw(20));  // the machine is busy: the timers of this time run later
    }
    settle();
  }
  void enter(int key) {
    callers_.push_back({++last_, key, begin(gate_, std::to_string(key))});
    expected_.enter(last_, key, now());
  }
  void try_enter(int key) {
    auto pass = gate_.try_enter(std::to_string(key));
    BOOST_TEST_REQUIRE(pass.has_value() == expected_.try_enter(++last_, key, now()));
    if (!pass) return;
    callers_.push_back({last_, key, entrant(io().get_executor())});
    callers_.back().call.token()(error_code(), std::move(*pass));
  }
  void leave(caller& one) {
    if (one.seen != standing::is_in && one.seen != standing::is_evicted) return;
    one.call.result<0>().leave();
    expected_.leave(one.number, one.key, now());
  }

  /// Where a caller is, as it can see itself.
  static standing seen_by(caller& one) {
    if (!one.call.done()) return standing::waits;
    if (is_declined(one.call)) return standing::is_declined;
    if (is_cancelled(one.call)) return standing::is_cancelled;
    return one.call.result<0>().valid() ? standing::is_in : standing::is_evicted;
  }

  void check() {
    std::array<int, key_count> heads{};
    std::array<int, key_count> waiters{};
    for (auto& one : callers_) {
      const auto seen = seen_by(one);
      const auto expected = expected_.of(one.number);
      BOOST_TEST_REQUIRE((seen == expected || (expected == standing::has_left && seen == standing::is_evicted)));
      BOOST_TEST_REQUIRE(one.call.calls() <= 1);
      on_change(one, seen);
      heads[one.key] += seen == standing::is_in;
      waiters[one.key] += seen == standing::waits;
    }
    for (int key = 0; key < key_count; ++key) {
      BOOST_TEST_REQUIRE(heads[key] <= 1, "U1: two valid passes");
      BOOST_TEST_REQUIRE(waiters[key] <= 1, "U2: two wait");
      BOOST_TEST_REQUIRE(waiters[key] <= heads[key], "U5: one waits without a processing");
      BOOST_TEST_REQUIRE((!owed_.contains(key) || waiters[key] == 1), "U3: nothing begins after a decline");
    }
    const auto told = gate_.statistics();
    BOOST_TEST_REQUIRE(told.active == expected_.active(), "U6: entries are the active keys");
    BOOST_TEST_REQUIRE(timers() == (told.waiting > 0 ? 1u : 0u));
    std::erase_if(callers_, [&](const auto& one) {
      return one.seen == standing::is_declined || one.seen == standing::is_cancelled ||
             expected_.of(one.number) == standing::has_left;
    });
  }
  /// A decline is owed a processing that begins later, unless the caller that waits is cancelled.
  void on_change(caller& one, standing seen) {
    if (seen == one.seen) return;
    if (seen == standing::is_declined) {
      owed_.insert(one.key);
      ++declines_;
    } else if (one.seen == standing::waits) {
      owed_.erase(one.key);
      begun_ += seen == standing::is_in;
    }
    evicted_ += seen == standing::is_evicted && one.seen == standing::is_in;
    one.seen = seen;
  }
  void end() {
    while (!callers_.empty()) {
      leave(callers_.front());
      settle();
      check();
    }
    BOOST_TEST(owed_.empty());
    BOOST_TEST(declines_ > 1000);
    BOOST_TEST(begun_ > 1000);
    BOOST_TEST(evicted_ > 100);
    BOOST_TEST(gate_.statistics().active == 0u);
  }

  gate_model expected_;
  gate gate_;
  std::mt19937 random_;
  std::deque<caller> callers_;
  std::set<int> owed_;
  int last_ = 0;
  int declines_ = 0;
  int begun_ = 0;
  int evicted_ = 0;
};

std::string hex_of(const detail::gate_key& key) {
  std::string text(33, '\0');
  std::snprintf(text.data(), text.size(), "%016llx%016llx", static_cast<unsigned long long>(key.low),
                static_cast<unsigned long long>(key.high));
  text.pop_back();
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gate_random)

BOOST_AUTO_TEST_CASE(the_gate_does_as_the_model_with_keep_first) { random_steps(keep::first, 1).run(100'000); }

BOOST_AUTO_TEST_CASE(the_gate_does_as_the_model_with_keep_newest) { random_steps(keep::newest, 2).run(100'000); }

BOOST_AUTO_TEST_CASE(the_table_does_as_a_map) {
  std::mt19937_64 random(3);
  detail::gate_table table;
  std::map<std::uint64_t, std::uint64_t> expected;
  for (std::uint64_t i = 1; i <= 200'000; ++i) {
    const auto low = random() % 64 * 1024;  // many begin their search at the same slot
    const detail::gate_key key{low, low};
    auto* found = table.find(key);
    BOOST_TEST_REQUIRE((found != nullptr) == expected.contains(low));
    if (found) {
      BOOST_TEST_REQUIRE(found->generation == expected.at(low));
      table.erase(*found);
      expected.erase(low);
    } else {
      table.find_or_insert(key).generation = expected[low] = i;
    }
    BOOST_TEST_REQUIRE(table.size() == expected.size());
  }
}

/// The first of the test vectors of its authors: the secret is 00 01 .. 0f, the input is empty.
BOOST_AUTO_TEST_CASE(the_hash_is_that_of_its_authors) {
  const detail::gate_key secret{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  const std::string nothing;
  BOOST_TEST(hex_of((detail::sip_hash<2, 4>(secret)(nothing))) == "e6a825ba047f81a3930255c71472f66d");
}

BOOST_AUTO_TEST_CASE(other_keys_and_other_secrets_have_other_hashes) {
  std::set<std::string> seen;
  const std::string text(40, '\0');
  for (std::size_t size = 0; size <= text.size(); ++size) {
    for (std::uint64_t secret = 0; secret < 4; ++secret) {
      seen.insert(hex_of(detail::sip_hash<1, 3>({secret, 7})(std::string_view(text).substr(0, size))));
    }
  }
  BOOST_TEST(seen.size() == 4 * 41u);
}

BOOST_AUTO_TEST_SUITE_END()
