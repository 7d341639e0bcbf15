// Moves of balanced tracks: of processes, and inside one.
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

#include "asynchronous.hpp"
#include "parts.hpp"
#include "rounds.hpp"
#include "support/coroutine.hpp"

namespace bench {

// Steps of the tracks of a shared balance, beside workers that write a node at each step. Measured in turns.

namespace {

constexpr std::size_t paced_processes = 2;
constexpr int granules_of_a_round = 100;
constexpr int sets_of_a_round = 200;
constexpr const char* pace_root = "/paces";

using sessions = std::vector<zkrecipes::session>;

awaitable<sessions> open_sessions() {
  auto ex = co_await asio::this_coro::executor;
  const zkrecipes::session_options options{.hosts = zkrecipes::test::join_hosts(zkrecipes::test::direct_hosts())};
  sessions all;
  for (std::size_t i = 0; i < paced_processes; ++i) {
    all.emplace_back(ex, options);
    co_await all.back().async_connected(use_awaitable);
  }
  co_await all.front().async_ensure_path(pace_root, use_awaitable);
  for (std::size_t i = 0; i < paced_processes; ++i) {
    co_await all.front().async_ensure_path(pace_root + std::string("/set-") + std::to_string(i), use_awaitable);
  }
  co_return all;
}

awaitable<bool> close_sessions(sessions& all) {
  co_await all.front().async_remove_with_children(pace_root, use_awaitable);
  for (auto& each : all) co_await each.async_close(use_awaitable);
  co_return true;
}

/// One member for each session, which takes part from the beginning to the end.
class paced_members {
 public:
  paced_members(asio::io_context& io, const sessions& over, std::uint64_t range) : io_(io) {
    for (const auto& each : over) {
      auto& made = *all_.emplace_back(std::make_unique<member>(each, range));
      made.pace.async_run([&made](zkrecipes::error_code) { made.has_ended = true; });
      made.track = made.pace.track("track");
    }
    until([](const member& each) { return each.pace.status().is_member; });
  }
  ~paced_members() {
    for (auto& each : all_) each->pace.stop();
    until([](const member& each) { return each.has_ended; });
  }

  void walk(int steps) {
    for (auto& each : all_) {
      each->left = steps;
      asio::co_spawn(io_, go(*each), asio::detached);
    }
    until([](const member& each) { return each.left == 0; });
  }

 private:
  struct member {
    member(const zkrecipes::session& over, std::uint64_t range)
        : pace(over, pace_root + std::string("/balance-") + std::to_string(range), {.id = "bench", .range = range}) {}
    zkrecipes::shared_balance pace;
    zkrecipes::shared_balance_track track{};
    int left = 0;
    bool has_ended = false;
  };

  static awaitable<void> go(member& who) {
    for (; who.left > 0; --who.left) {
      if (!who.track.try_move()) co_await who.track.async_move(use_awaitable);
    }
  }
  void until(const std::function<bool(const member&)>& holds) {
    const auto all_do = [&] {
      for (const auto& each : all_) {
        if (!holds(*each)) return false;
      }
      return true;
    };
    if (!zkrecipes::test::run_until(io_, all_do, std::chrono::minutes(2)))
      throw std::runtime_error("shared moves: in vain");
  }

  asio::io_context& io_;
  std::vector<std::unique_ptr<member>> all_;
};

awaitable<void> set_each_step(zkrecipes::session over, std::size_t which, int& left) {
  const auto path = pace_root + std::string("/set-") + std::to_string(which);
  for (; left > 0; --left) co_await over.async_set(path, "step", zkrecipes::any_version, use_awaitable);
}

double sets_a_second(asio::io_context& io, const sessions& over) {
  std::vector<int> left(over.size(), sets_of_a_round);
  const auto begin = clock::now();
  for (std::size_t i = 0; i < over.size(); ++i) {
    asio::co_spawn(io, set_each_step(over[i], i, left[i]), asio::detached);
  }
  const auto is_done = [&] { return left == std::vector<int>(over.size(), 0); };
  if (!zkrecipes::test::run_until(io, is_done, std::chrono::minutes(2)))
    throw std::runtime_error("shared moves: in vain");
  return sets_of_a_round / ms_since(begin) * 1000;
}

}  // namespace

/// In the column of the bare C client: a plain `set` of our own library at each step, which says nothing of the others.
std::vector<row> shared_moves(const plan& what) {
  asio::io_context io;
  auto over = zkrecipes::test::run_coroutine(io, open_sessions());
  std::vector<row> rows;
  for (const std::uint64_t range : {10u, 100u, 1000u}) {
    paced_members members(io, over, range);
    const auto steps = granules_of_a_round * static_cast<int>(range / 4);
    const auto ours = [&](const std::string&) {
      const auto begin = clock::now();
      members.walk(steps);
      return std::optional(steps / ms_since(begin) * 1000);
    };
    const auto plain = [&](const std::string&) { return std::optional(sets_a_second(io, over)); };
    rows.push_back(measure_in_turns("steps of a track, two processes, range " + std::to_string(range), per_second,
                                    {{&row::ours, ours}, {&row::bare, plain}}, what.rounds));
  }
  zkrecipes::test::run_coroutine(io, close_sessions(over));
  return rows;
}

// Moves of balanced tracks: ours, and a mutex with a condition variable, measured in turns. No server takes part.

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
