// A call of a limiter in this thread, beside a loop that only reads the clock, and beside a limit behind a mutex.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <zkrecipes/flow/keyed_limiter.hpp>
#include <zkrecipes/flow/limiter.hpp>

#include "parts.hpp"
#include "rounds.hpp"

namespace bench {

namespace {

constexpr int calls_of_sprint = 20'000;
constexpr int limiter_sprints = 50;  // of a round, of which the best counts: other work of the machine interrupts some
constexpr std::uint64_t limit_rate = 1'000'000'000;
constexpr std::uint64_t limit_burst = 1'000'000'000;  // never used up
constexpr std::size_t limited_keys = 1024;

/// A bucket of tokens, as one would write it.
class mutex_bucket {
 public:
  bool try_acquire() {
    const auto now = zkrecipes::lease_clock::now();
    std::lock_guard lock(mutex_);
    const auto pause = std::chrono::duration<double>(now - last_).count();
    tokens_ = std::min(static_cast<double>(limit_burst), tokens_ + pause * static_cast<double>(limit_rate));
    last_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    ++acquired_;
    return true;
  }

 private:
  std::mutex mutex_;
  zkrecipes::lease_clock::time_point last_;
  double tokens_ = static_cast<double>(limit_burst);
  std::uint64_t acquired_ = 0;
};

class mutex_buckets {
 public:
  bool try_acquire(const std::string& key) {
    std::lock_guard lock(mutex_);
    return all_[key].try_acquire();
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, mutex_bucket> all_;
};

/// Nanoseconds of a call.
template <class Call>
double time_of(Call call) {
  double best = 1e9;
  for (int i = 0; i < limiter_sprints; ++i) {
    std::int64_t sum = 0;
    const auto begun = clock::now();
    for (int k = 0; k < calls_of_sprint; ++k) sum += call(k);
    const std::chrono::duration<double, std::nano> took = clock::now() - begun;
    asm volatile("" : : "r"(sum) : "memory");  // so that the calls are made
    best = std::min(best, took.count() / calls_of_sprint);
  }
  return best;
}

/// A thread that only waits. Without a second thread the C library locks a mutex without an atomic instruction, which a
/// program with threads can not have.
class idle_thread {
 public:
  ~idle_thread() {
    {
      std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    over_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool is_over_ = false;
  std::thread thread_{[this] {
    std::unique_lock lock(mutex_);
    over_.wait(lock, [this] { return is_over_; });
  }};
};

std::vector<std::string> make_keys() {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < limited_keys; ++i) all.push_back("customer/" + std::to_string(1'000'000'000 + i));
  return all;
}

template <class Ours, class Other>
row as_rates(const std::string& name, const plan& what, Ours ours, Other other) {
  return measure_in_turns(name, per_second,
                          {{&row::ours, [&](const std::string&) { return std::optional(1e9 / time_of(ours)); }},
                           {&row::bare, [&](const std::string&) { return std::optional(1e9 / time_of(other)); }}},
                          what.rounds);
}

template <class Ours, class Other>
row as_times(const std::string& name, const plan& what, Ours ours, Other other) {
  return measure_in_turns(name, "ns a call",
                          {{&row::ours, [&](const std::string&) { return std::optional(time_of(ours)); }},
                           {&row::bare, [&](const std::string&) { return std::optional(time_of(other)); }}},
                          what.rounds);
}

}  // namespace

std::vector<row> limiters(const plan& what) {
  const idle_thread idle;
  boost::asio::io_context io;  // never run: nobody waits
  zkrecipes::limiter one(io, {.rate = limit_rate, .burst = limit_burst});
  zkrecipes::limiter empty(io, {.rate = 1, .per = std::chrono::hours(24), .start_empty = true});
  zkrecipes::keyed_limiter keyed(io, {.rate = 1'000, .burst = 100'000'000});       // keys stay in the table
  zkrecipes::keyed_limiter brief(io, {.rate = limit_rate, .burst = limit_burst});  // their credit is back at once
  mutex_bucket bucket;
  mutex_buckets buckets;
  const auto keys = make_keys();
  const auto key_of = [&](int k) -> const std::string& { return keys[static_cast<std::size_t>(k) % limited_keys]; };
  const auto ours = [&](int) { return one.try_acquire(); };
  const auto ours_refused = [&](int) { return empty.try_acquire(); };
  const auto with_mutex = [&](int) { return bucket.try_acquire(); };
  const auto clock_alone = [](int) { return zkrecipes::lease_clock::now().time_since_epoch().count(); };
  const auto ours_keyed = [&](int k) { return keyed.try_acquire(key_of(k)); };
  const auto ours_brief = [&](int k) { return brief.try_acquire(key_of(k)); };
  const auto keyed_with_mutex = [&](int k) { return buckets.try_acquire(key_of(k)); };
  return {as_times("limiter: a call, beside reading the clock alone", what, ours, clock_alone),
          as_times("limiter: a call that is refused, beside reading the clock alone", what, ours_refused, clock_alone),
          as_times("limiter: a call, beside a mutex", what, ours, with_mutex),
          as_rates("limiter: calls, beside a mutex", what, ours, with_mutex),
          as_times("keyed limiter: a call, 1 024 keys, beside a mutex and a map", what, ours_keyed, keyed_with_mutex),
          as_times("keyed limiter: a call of a new key, beside a mutex and a map that keeps all keys", what, ours_brief,
                   keyed_with_mutex)};
}

}  // namespace bench
