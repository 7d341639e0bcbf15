// A limit for each key, and the table of keys.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>

#include <boost/asio/detached.hpp>

#include "unit/limiting.hpp"
#include "unit/refusal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(keyed_limiters, limiting)

BOOST_AUTO_TEST_CASE(each_key_has_a_limit_of_its_own) {
  auto accounts = make_keyed({.rate = 1, .per = 60s, .burst = 2});
  BOOST_TEST(accounts.try_acquire("smith"));
  BOOST_TEST(accounts.try_acquire("smith"));
  BOOST_TEST(!accounts.try_acquire("smith"));
  BOOST_TEST(accounts.try_acquire("jones"));
  advance(60s);
  BOOST_TEST(accounts.try_acquire("smith"));
  BOOST_TEST(!accounts.try_acquire("smith"));
}

BOOST_AUTO_TEST_CASE(all_that_wait_for_a_key_are_served_in_order) {
  auto accounts = make_keyed({.rate = 1, .per = 10s});
  accounts.async_acquire("smith", expect("a").token());
  accounts.async_acquire("smith", expect("b").token());
  accounts.async_acquire("jones", expect("x").token());
  accounts.async_acquire("smith", expect("c").token());
  BOOST_TEST(order == "");
  settle();
  BOOST_TEST(order == "ax");
  BOOST_TEST(!accounts.try_acquire("smith"));
  BOOST_TEST(timers() == 1u);
  advance(10s);
  BOOST_TEST(order == "axb");
  advance(10s);
  BOOST_TEST(order == "axbc");
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(the_first_one_waits_and_the_others_are_declined) {
  auto accounts = make_keyed({.rate = 1, .per = 10s, .coalesce = keep::first});
  accounts.try_acquire("smith");
  accounts.async_acquire("smith", expect("a").token());
  auto& second = expect("b");
  accounts.async_acquire("smith", second.token());
  settle();
  BOOST_TEST(ended_with(second, errc::declined));
  advance(10s);
  BOOST_TEST(order == "a");
  accounts.async_acquire("smith", expect("c").token());
  advance(10s);
  BOOST_TEST(order == "ac");
}

BOOST_AUTO_TEST_CASE(the_newest_one_waits_and_the_others_are_declined) {
  auto accounts = make_keyed({.rate = 1, .per = 10s, .coalesce = keep::newest});
  accounts.try_acquire("smith");
  auto& first = expect("a");
  auto& second = expect("b");
  accounts.async_acquire("smith", first.token());
  advance(5s);
  accounts.async_acquire("smith", second.token());
  settle();
  BOOST_TEST(ended_with(first, errc::declined));
  BOOST_TEST(timers() == 1u);
  accounts.async_acquire("smith", expect("c").token());
  advance(5s);  // the time of the first one counts
  BOOST_TEST(ended_with(second, errc::declined));
  BOOST_TEST(order == "c");
  const auto seen = accounts.statistics();
  BOOST_TEST(seen.coalesced == 2u);
  BOOST_TEST(seen.declined == 2u);
  BOOST_TEST(seen.waited == 1u);
  BOOST_TEST(seen.waiting == 0u);
}

BOOST_AUTO_TEST_CASE(a_cancelled_one_gives_its_place_back) {
  auto accounts = make_keyed({.rate = 1, .per = 10s, .coalesce = keep::first});
  accounts.try_acquire("smith");
  auto& mine = expect("a");
  accounts.async_acquire("smith", mine.token());
  settle();
  mine.cancel();
  settle();
  BOOST_TEST(ended_with(mine, asio::error::operation_aborted));
  BOOST_TEST(timers() == 0u);
  accounts.async_acquire("smith", expect("b").token());
  mine.cancel();
  advance(10s);
  BOOST_TEST(order == "b");
  advance(10s);
  BOOST_TEST(accounts.try_acquire("smith"));
  BOOST_TEST(accounts.statistics().acquired == 3u);
}

BOOST_AUTO_TEST_CASE(a_cancellation_can_come_at_any_moment) {
  for (auto moment = 0ms; moment <= 25ms; moment += 1ms) {
    for (const bool is_settled : {false, true}) {
      auto hosts = make_keyed({.rate = 100, .per = 1s, .start_empty = true});
      auto& first = expect();
      auto& second = expect();
      hosts.async_acquire("k", first.token());
      hosts.async_acquire("k", second.token());
      if (is_settled)
        advance(moment);
      else
        state().now += moment;
      first.cancel();
      advance(50ms);
      BOOST_TEST(first.calls() == 1);
      BOOST_TEST(ended_with(second, error_code()));
      BOOST_TEST(hosts.statistics().acquired == (first.error() ? 1u : 2u));
      BOOST_TEST(hosts.try_acquire("k"));
    }
  }
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(one_key_is_held_off_and_the_others_are_not) {
  auto hosts = make_keyed({.rate = 10, .per = 1s, .burst = 5});
  hosts.hold_off("a", 30s);
  hosts.hold_off("a", 5s);
  BOOST_TEST(!hosts.try_acquire("a"));
  BOOST_TEST(hosts.try_acquire("b"));
  hosts.async_acquire("a", expect("a").token());
  advance(20s);
  hosts.hold_off("a", 20s);
  advance(20s - 1ns);
  BOOST_TEST(order == "");
  advance(1ns);
  BOOST_TEST(order == "a");
  BOOST_TEST(!hosts.try_acquire("a"));
  BOOST_TEST(hosts.statistics().held_off == 2u);
}

BOOST_AUTO_TEST_CASE(ten_thousand_keys_wait_at_once) {
  constexpr int keys = 10'000;
  auto accounts = make_keyed({.rate = 1, .per = 1s, .start_empty = true});
  int served = 0;
  for (int i = 0; i < keys; ++i) {
    accounts.async_acquire("key-" + std::to_string(i),
                           asio::bind_executor(io().get_executor(), [&](error_code error) { served += !error; }));
  }
  settle();
  BOOST_TEST(timers() == std::size_t(keys));
  BOOST_TEST(accounts.statistics().keys == std::size_t(keys));
  BOOST_TEST(accounts.statistics().waiting == std::size_t(keys));
  state().now += 1s;
  for (auto due = std::move(state().timers); auto& [id, timer] : due) timer.second();
  settle();
  BOOST_TEST(served == keys);
  BOOST_TEST(timers() == 0u);
  BOOST_TEST(accounts.statistics().waiting == 0u);
}

BOOST_AUTO_TEST_CASE(keys_whose_credit_is_back_are_forgotten) {
  auto accounts = make_keyed({.rate = 1, .per = 1s, .most_keys = 1'000});
  for (int i = 0; i < 500; ++i) accounts.try_acquire("old-" + std::to_string(i));
  BOOST_TEST(accounts.statistics().keys == 500u);
  for (int i = 0; i < 600; ++i) {
    advance(1s);
    BOOST_TEST(accounts.try_acquire("new-" + std::to_string(i)));
  }
  BOOST_TEST(accounts.statistics().keys <= 2u);
  BOOST_TEST(accounts.statistics().evicted == 0u);
}

BOOST_AUTO_TEST_CASE(a_full_table_forgets_the_key_that_is_nearest_to_its_end) {
  auto accounts = make_keyed({.rate = 1, .per = 60s, .burst = 3, .most_keys = 3});
  for (const auto* key : {"a", "a", "b", "c", "c"}) accounts.try_acquire(key);
  accounts.try_acquire("b");
  accounts.try_acquire("b");  // now `a` and `c` have the most credit, and then it is `c`
  accounts.try_acquire("a");
  BOOST_TEST(accounts.try_acquire("d"));
  BOOST_TEST(accounts.statistics().evicted == 1u);
  BOOST_TEST(accounts.statistics().keys == 3u);
  BOOST_TEST(!accounts.try_acquire("a"));
  BOOST_TEST(!accounts.try_acquire("b"));
  BOOST_TEST(accounts.try_acquire("c"));  // forgotten, so it has all its credit; and `d` goes
  BOOST_TEST(accounts.try_acquire("c"));
  BOOST_TEST(accounts.try_acquire("c"));
  BOOST_TEST(!accounts.try_acquire("c"));
  BOOST_TEST(accounts.statistics().evicted == 2u);
  BOOST_TEST(accounts.statistics().keys == 3u);
}

BOOST_AUTO_TEST_CASE(a_key_that_somebody_waits_for_is_not_forgotten) {
  auto accounts = make_keyed({.rate = 1, .per = 10s, .most_keys = 2, .start_empty = true});
  for (const auto* key : {"a", "b", "c"}) accounts.async_acquire(key, expect(key).token());
  settle();
  BOOST_TEST(accounts.statistics().keys == 3u);
  BOOST_TEST(accounts.statistics().evicted == 0u);
  BOOST_TEST(!accounts.try_acquire("d"));  // a call that is refused adds no key
  BOOST_TEST(accounts.statistics().keys == 3u);
  advance(10s);
  BOOST_TEST(order == "abc");
  BOOST_TEST(accounts.try_acquire("d"));
  BOOST_TEST(accounts.statistics().keys == 2u);
  BOOST_TEST(accounts.statistics().evicted == 2u);
  BOOST_TEST(!accounts.try_acquire("d"));
}

BOOST_AUTO_TEST_CASE(the_table_is_bounded_in_all_its_parts) {
  constexpr std::size_t most = 10'000;
  auto accounts = make_keyed({.rate = 1, .per = 1h, .most_keys = most});
  for (int i = 0; i < 50'000; ++i) BOOST_TEST(accounts.try_acquire(std::to_string(i)));
  const auto seen = accounts.statistics();
  BOOST_TEST(seen.keys == most);
  BOOST_TEST(seen.evicted == 50'000 - most);
  BOOST_TEST(seen.acquired == 50'000u);
}

BOOST_AUTO_TEST_CASE(operations_outlive_the_object) {
  auto accounts = make_keyed({.rate = 1, .per = 10s, .start_empty = true});
  accounts.async_acquire("smith", expect("a").token());
  accounts = keyed_limiter();
  advance(10s);
  BOOST_TEST(order == "a");
}

BOOST_AUTO_TEST_CASE(a_context_that_is_destroyed_takes_those_that_wait_along) {
  auto accounts = make_keyed({.rate = 1, .per = 10s, .start_empty = true});
  auto guard = std::make_shared<int>();
  const std::weak_ptr<int> watch = guard;
  for (const auto* key : {"a", "b", "b"}) {
    auto waits = [](keyed_limiter from, std::string of, std::shared_ptr<int>) -> asio::awaitable<void> {
      co_await from.async_acquire(std::move(of));
      BOOST_ERROR("let through");
    };
    asio::co_spawn(io(), waits(accounts, key, guard), asio::detached);
  }
  guard.reset();
  settle();
  BOOST_TEST(timers() == 2u);
  accounts = keyed_limiter();
  destroy_context();
  BOOST_TEST(watch.expired());
  BOOST_TEST(timers() == 0u);
}

BOOST_AUTO_TEST_CASE(one_that_stands_for_nothing_lets_nothing_through) {
  keyed_limiter none;
  BOOST_TEST(!none.try_acquire("a"));
  none.hold_off("a", 1s);
  BOOST_TEST((none.statistics() == keyed_limiter_statistics()));
  BOOST_TEST(none.options().rate == 0u);
  BOOST_TEST(!none.get_executor());
  none.async_acquire("a", expect().token());
  settle();
  BOOST_TEST(ended_with(all.front(), errc::closed));
}

BOOST_AUTO_TEST_CASE(bad_options_are_named) {
  const auto said = [this](keyed_limiter_options options) { return refusal([&] { make_keyed(options); }); };
  BOOST_TEST(said({}).starts_with("keyed_limiter_options::rate is 0; it must be from 1"));
  BOOST_TEST(said({.rate = 1, .per = -1s}).starts_with("keyed_limiter_options::per is -1000000000 ns;"));
  BOOST_TEST(said({.rate = 1, .burst = 0}).starts_with("keyed_limiter_options::burst is 0;"));
  BOOST_TEST(said({.rate = 1, .most_keys = 0}).starts_with("keyed_limiter_options::most_keys is 0;"));
  BOOST_TEST(said({.rate = 1, .most_keys = 100'000'001}).starts_with("keyed_limiter_options::most_keys"));
  BOOST_TEST(said({.rate = 1}) == "");
  BOOST_TEST(
      refusal([] { keyed_limiter(asio::any_io_executor(), {.rate = 1}); }).starts_with("keyed_limiter executor"));
}

BOOST_AUTO_TEST_SUITE_END()

// Random calls of a keyed limiter, compared with a small model after each of them.
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
