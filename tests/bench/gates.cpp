// Gates: shared by processes, and inside one.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#ifdef ZKRECIPES_BENCH_TBB
#include <tbb/concurrent_hash_map.h>
#endif

#include <boost/asio/io_context.hpp>

#include <zkrecipes/flow/gate.hpp>

#include "asynchronous.hpp"
#include "operations.hpp"
#include "parts.hpp"
#include "rounds.hpp"

namespace bench {

// A shared gate in round trips. Its lines stand beside those of a lock, which is the same node without a key.

namespace {

constexpr const char* gated_key = "key";

zkrecipes::shared_gate gate_at(const zkrecipes::session& over, const std::string& path) {
  return zkrecipes::shared_gate(over, path + "/gate", {.id = "bench", .buckets = 1});
}

/// The node, the bucket and the object are there, as at every call but the first ones.
awaitable<zkrecipes::shared_gate> warm_gate(const zkrecipes::session& over, const std::string& path) {
  auto gate = gate_at(over, path);
  auto pass = co_await gate.async_enter("warm-up", zkrecipes::arrival::first, use_awaitable);
  co_await pass.async_leave(use_awaitable);
  co_return gate;
}

awaitable<void> remove_gate(setting& where, const std::string& path) {
  co_await where.first.async_remove_with_children(path + "/gate", use_awaitable);
}

awaitable<double> free_gate(setting& where, std::string path) {
  auto gate = co_await warm_gate(where.first, path);
  const auto begin = clock::now();
  auto pass = co_await gate.async_enter(gated_key, zkrecipes::arrival::first, use_awaitable);
  const double took = ms_since(begin);
  co_await pass.async_leave(use_awaitable);
  co_await remove_gate(where, path);
  co_return took;
}

awaitable<double> left_gate(setting& where, std::string path) {
  auto gate = co_await warm_gate(where.first, path);
  auto pass = co_await gate.async_enter(gated_key, zkrecipes::arrival::first, use_awaitable);
  const auto begin = clock::now();
  co_await pass.async_leave(use_awaitable);
  const double took = ms_since(begin);
  co_await remove_gate(where, path);
  co_return took;
}

/// A caller of the second session that waits behind a pass of the first one.
class gate_line {
 public:
  explicit gate_line(asio::any_io_executor on) : entered_(std::move(on)) {}

  awaitable<void> form(setting& where, const std::string& path) {
    gate_ = co_await warm_gate(where.first, path);
    waiting_ = co_await warm_gate(where.second, path);
    pass_ = co_await gate_.async_enter(gated_key, zkrecipes::arrival::first, use_awaitable);
    waiting_.async_enter(gated_key, zkrecipes::arrival::first,
                         [this](zkrecipes::error_code, zkrecipes::shared_gate_pass next) {
                           next_ = std::move(next);
                           entered_.note();
                         });
    for (bool stands = false; !stands;) {
      auto there = co_await where.first.async_children(path + "/gate/0", use_awaitable);
      stands = there.names.size() == 2;
    }
    co_await where.second.async_sync(use_awaitable);  // answered behind the look of the one that waits
  }
  awaitable<double> hand_off() {
    const auto begin = clock::now();
    pass_.async_leave(asio::detached);
    const auto end = co_await entered_.wait();
    co_return ms_between(begin, end);
  }
  awaitable<double> decline() {
    const auto begin = clock::now();
    auto [error, none] =
        co_await gate_.async_enter(gated_key, zkrecipes::arrival::first, asio::as_tuple(use_awaitable));
    const double took = ms_since(begin);
    if (error != zkrecipes::errc::declined) throw boost::system::system_error(error, "decline");
    co_return took;
  }
  awaitable<void> leave() {
    co_await pass_.async_leave(use_awaitable);
    if (!next_.error()) co_await next_.async_leave(use_awaitable);
  }

 private:
  moment entered_;
  zkrecipes::shared_gate gate_, waiting_;
  zkrecipes::shared_gate_pass pass_, next_;
};

awaitable<double> gate_hand_off(setting& where, std::string path) {
  gate_line line(where.first.get_executor());
  co_await line.form(where, path);
  const double took = co_await line.hand_off();
  co_await line.leave();
  co_await remove_gate(where, path);
  co_return took;
}

awaitable<double> declined(setting& where, std::string path) {
  gate_line line(where.first.get_executor());
  co_await line.form(where, path);
  const double took = co_await line.decline();
  co_await line.hand_off();
  co_await line.leave();
  co_await remove_gate(where, path);
  co_return took;
}

}  // namespace

std::vector<operation> gate_operations() {
  return {{"enter a free shared gate", "", &free_gate},
          {"leave a shared gate", "", &left_gate},
          {"leave a shared gate until the next caller is in", "", &gate_hand_off},
          {"be declined by a shared gate", "", &declined}};
}

// Entering and leaving a gate, beside what one would write with a concurrent hash map, and with a mutex and a map. Two
// threads do the same with the same keys.

namespace {

constexpr int threads = 2;
constexpr std::size_t keys_of_all = 1024;  // two threads seldom meet at a key
constexpr int pairs = 20'000;              // of each thread in a sprint
constexpr int sprints = 50;                // of a round, of which the best counts

/// What such a table has to know of a key, as the gate does.
struct processing {
  std::uint64_t generation = 0;
  zkrecipes::lease_clock::time_point start{};
};

#ifdef ZKRECIPES_BENCH_TBB
class hash_map_gate {
 public:
  std::uint64_t enter(const std::string& key) {
    tbb::concurrent_hash_map<std::string, processing>::accessor at;
    if (!held_.insert(at, key)) return 0;
    at->second = {last_.fetch_add(1, std::memory_order_relaxed) + 1, zkrecipes::lease_clock::now()};
    return at->second.generation;
  }
  void leave(const std::string& key, std::uint64_t generation) {
    tbb::concurrent_hash_map<std::string, processing>::accessor at;
    if (held_.find(at, key) && at->second.generation == generation) held_.erase(at);
  }

 private:
  tbb::concurrent_hash_map<std::string, processing> held_;
  std::atomic<std::uint64_t> last_ = 0;
};
#endif

class mutex_gate {
 public:
  std::uint64_t enter(const std::string& key) {
    const auto now = zkrecipes::lease_clock::now();
    std::lock_guard lock(mutex_);
    const auto [at, is_new] = held_.try_emplace(key, processing{last_ + 1, now});
    return is_new ? ++last_ : 0;
  }
  void leave(const std::string& key, std::uint64_t generation) {
    std::lock_guard lock(mutex_);
    const auto at = held_.find(key);
    if (at != held_.end() && at->second.generation == generation) held_.erase(at);
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, processing> held_;
  std::uint64_t last_ = 0;
};

template <class Gate>
void enter_and_leave(Gate& gate, const std::string& key) {
  const auto generation = gate.enter(key);
  if (generation) gate.leave(key, generation);
}
void enter_and_leave(zkrecipes::gate& gate, const std::string& key) { gate.try_enter(key); }

std::vector<std::string> all_keys() {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < keys_of_all; ++i) all.push_back("customer/" + std::to_string(1'000'000'000 + i));
  return all;
}

/// Pairs a second of both threads. They begin together, each somewhere else in the keys.
template <class Gate>
double sprint(Gate& gate) {
  static const auto keys = all_keys();
  std::atomic<int> ready = 0;
  std::vector<clock::time_point> begins(threads);
  std::vector<clock::time_point> ends(threads);
  const auto run = [&](std::size_t which) {
    for (++ready; ready < threads;) continue;  // does not give the processor away, so that all run when it begins
    begins[which] = clock::now();
    auto random = static_cast<std::uint64_t>(which) + 1;
    for (int k = 0; k < pairs; ++k) {
      random = random * 6364136223846793005 + 1442695040888963407;
      enter_and_leave(gate, keys[(random >> 33) % keys_of_all]);
    }
    ends[which] = clock::now();
  };
  std::vector<std::thread> all;
  for (std::size_t i = 0; i < threads; ++i) all.emplace_back(run, i);
  for (auto& each : all) each.join();
  const auto took = *std::max_element(ends.begin(), ends.end()) - *std::min_element(begins.begin(), begins.end());
  return double{pairs} * threads / std::chrono::duration<double>(took).count();
}

/// The best of many short sprints: whatever else the machine does interrupts some of them, and any long one.
template <class Gate>
std::optional<double> round_of(Gate& gate) {
  double best = 0;
  for (int i = 0; i < sprints; ++i) best = std::max(best, sprint(gate));
  return best;
}

}  // namespace

std::vector<row> gates(const plan& what) {
  boost::asio::io_context io;  // never run: nobody waits
  zkrecipes::gate ours(io);
  mutex_gate mutex;
  const auto line = [&](const std::string& other_name, auto& other) {
    return measure_in_turns("gate: enter and leave, 2 threads, beside " + other_name, per_second,
                            {{&row::ours, [&](const std::string&) { return round_of(ours); }},
                             {&row::bare, [&](const std::string&) { return round_of(other); }}},
                            what.rounds);
  };
  std::vector<row> rows{line("a mutex and a map", mutex)};
#ifdef ZKRECIPES_BENCH_TBB
  hash_map_gate hash_map;
  rows.push_back(line("tbb::concurrent_hash_map", hash_map));
#endif
  return rows;
}

}  // namespace bench
