// One track: its steps, and the moves that wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "balance/pending_move.hpp"

namespace zkrecipes::detail {

class balance_core;

/// The steps have one writer at a time: the owner (the thread that calls the moves of this track), or, while a move
/// waits, the thread that grants it, under the lock of the core. The owner can tell which. While a move waits,
/// `unchecked_` is not above the steps, so the owner asks the core; it raises `unchecked_` only when the core says,
/// under its lock, that no move waits. So most moves are two loads, a comparison and a store, on a cache line that
/// other threads read now and then, and do not write.
///
/// Memory order:
/// - A step is stored with `release`, and a limit is computed from steps that were loaded with at least `acquire`. So a
///   limit rests on published steps only, and all that a slow worker did before a step is visible to a fast one whose
///   move that step allowed.
/// - Steps only grow, so a limit never falls, and an old copy of it is too low at worst. A thread that reads the steps
///   of a track and after that those of another, and finds the first ahead by more than the range, has found a bug; the
///   other way round the second may have moved in between.
/// - The step that ends a granule and the core's count of waiting tracks are `seq_cst`. The owner stores that step, and
///   then loads the count. A track that begins to wait raises the count, and then loads the steps. In the one order of
///   these four, one of the two sees the other: the owner wakes the waiting track, or that track sees the step.
/// - All else that threads share is under the lock of the core.
class track_state : public std::enable_shared_from_this<track_state> {
 public:
  /// To be made under the lock of the core.
  track_state(std::shared_ptr<balance_core> core, std::string name, std::int64_t steps);
  track_state(const track_state&) = delete;
  track_state& operator=(const track_state&) = delete;

  /// By the owner. False: the limit does not allow a step, a move waits, or the track has left.
  bool try_move() {
    const auto steps = steps_.load(std::memory_order_relaxed);
    if (steps >= unchecked_.load(std::memory_order_relaxed)) [[unlikely]]
      return move_checked();
    steps_.store(steps + 1, std::memory_order_release);
    return true;
  }
  /// By the owner.
  void move(pending_move::handler whose);

  const std::string& name() const noexcept { return name_; }
  balance_core& core() const noexcept { return *core_; }
  std::int64_t steps() const noexcept { return steps_.load(std::memory_order_seq_cst); }

 private:
  friend class balance_core;
  using moves = std::list<std::shared_ptr<pending_move>>;

  static constexpr std::size_t cache_line = 64;
  static constexpr std::int64_t nothing = -1;  // below any number of steps

  bool move_checked();
  void make_step(std::int64_t number);
  void listen(const std::shared_ptr<pending_move>& waiting);
  std::int64_t end_of_unchecked(std::int64_t steps) const noexcept;

  alignas(cache_line) std::atomic<std::int64_t> steps_;
  std::int64_t limit_;                   // the owner's copy
  std::atomic<std::int64_t> unchecked_;  // below so many steps a move looks at nothing else; `nothing` after `leave`

  // Under the lock of the core. Others write it, so it begins a cache line.
  alignas(cache_line) moves waiting_;
  bool has_left_ = false;
  std::size_t place_ = 0;  // in the core's list

  std::shared_ptr<balance_core> core_;
  std::string name_;
};

}  // namespace zkrecipes::detail
