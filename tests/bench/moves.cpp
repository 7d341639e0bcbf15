// Moves of balanced tracks: ours, and a mutex with a condition variable, measured in turns. No server takes part.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <zkrecipes/flow/balance.hpp>

#include "parts.hpp"
#include "rounds.hpp"
#include "support/coroutine.hpp"

namespace bench {

namespace asio = boost::asio;

/// Pacing as one would write it first: one mutex, one condition variable.
class locked_balance {
 public:
  explicit locked_balance(std::uint64_t range) : range_(range) {}

  void join() { steps_.emplace_back(slowest()); }
  void leave(std::size_t track) {
    const std::lock_guard lock(mutex_);
    steps_[track].reset();
    changed_.notify_all();
  }
  /// Blocks until the step may be made.
  void move(std::size_t track) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return *steps_[track] < slowest() + range_; });
    const bool was_slowest = *steps_[track] == slowest();
    ++*steps_[track];
    if (was_slowest) changed_.notify_all();
  }

 private:
  std::uint64_t slowest() const {
    std::optional<std::uint64_t> found;
    for (const auto& each : steps_) {
      if (each) found = std::min(found.value_or(*each), *each);
    }
    return found.value_or(0);
  }

  std::uint64_t range_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::optional<std::uint64_t>> steps_;  // nothing: it has left
};

namespace {

constexpr int moves_of_a_track = 2'000'000;

/// The time until all tracks have made their moves, for each move of all: two threads at full speed halve it.
double ns_per_move(int tracks, const std::function<void()>& what) {
  const auto begin = std::chrono::steady_clock::now();
  what();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / tracks / moves_of_a_track;
}

asio::awaitable<void> walk(zkrecipes::balance_track track) {
  for (int i = 0; i < moves_of_a_track; ++i) {
    if (!track.try_move()) co_await track.async_move();
  }
}

/// All tracks are there before the first one moves, on a thread each.
double ours(int tracks, std::uint64_t range) {
  asio::thread_pool pool(static_cast<std::size_t>(tracks));
  zkrecipes::balance pace(pool.get_executor(), {.range = range});
  std::vector<zkrecipes::balance_track> all;
  for (int i = 0; i < tracks; ++i) all.push_back(pace.track(std::to_string(i)));
  return ns_per_move(tracks, [&] {
    std::vector<std::future<void>> ended;
    for (auto& each : all) ended.push_back(asio::co_spawn(pool, walk(std::move(each)), asio::use_future));
    for (auto& each : ended) each.get();
  });
}

double with_a_lock(int tracks, std::uint64_t range) {
  locked_balance pace(range);
  for (int i = 0; i < tracks; ++i) pace.join();
  return ns_per_move(tracks, [&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < tracks; ++i) {
      threads.emplace_back([&pace, i] {
        const auto mine = static_cast<std::size_t>(i);
        for (int k = 0; k < moves_of_a_track; ++k) pace.move(mine);
        pace.leave(mine);
      });
    }
    for (auto& each : threads) each.join();
  });
}

row compare(const std::string& line, int tracks, std::uint64_t range, int rounds) {
  return measure_in_turns(line, nanoseconds,
                          {{&row::ours, [=](const std::string&) { return std::optional(ours(tracks, range)); }},
                           {&row::bare, [=](const std::string&) { return std::optional(with_a_lock(tracks, range)); }}},
                          rounds);
}

}  // namespace

/// In the column of the bare C client: the version with a lock.
std::vector<row> moves(const plan& what) {
  return {compare("a track alone", 1, 100, what.rounds), compare("two threads, range 100", 2, 100, what.rounds),
          compare("two threads, range 10 000", 2, 10'000, what.rounds),
          compare("two threads, range 1 000 000", 2, 1'000'000, what.rounds)};
}

}  // namespace bench
