// A part of a gate's keys, with a lock of its own: the machine that says who may process a key.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/intrusive/set.hpp>

#include <zkrecipes/detail/gate_key.hpp>
#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/flow/gate.hpp>
#include <zkrecipes/lease_clock.hpp>

#include "session/operation.hpp"

namespace zkrecipes::detail {

// The keys of a shard that are being processed.

class gate_waiter;

/// A key that is being processed.
struct active_key {
  gate_key key;
  std::uint64_t generation = 0;  ///< That of the valid pass. 0: the slot is free.
  lease_clock::time_point start{};
  gate_waiter* waiter = nullptr;
};

/// The first key stands in the table itself, and so in the cache line of its shard: with many shards there is seldom
/// another. The others are in a hash table with open addressing. Neighbours move up when an entry is erased, so no
/// marks are left behind, and it is rebuilt only to grow: after that nothing is allocated. (`boost::unordered_flat_map`
/// marks overflowing groups and is rebuilt from time to time because of that, also while the number of its elements
/// stays the same.)
class gate_table {
 public:
  /// The entry of this key, or null.
  active_key* find(const gate_key& key) noexcept {
    if (first_.generation != 0 && first_.key == key) return &first_;
    return others_ == 0 ? nullptr : find_other(key);
  }
  /// The entry of this key; if there is none, a new one of generation 0, which is to be set. Other entries may move.
  active_key& find_or_insert(const gate_key& key) {
    if (auto* there = find(key)) return *there;
    if (first_.generation != 0) return insert_other(key);
    first_.key = key;
    return first_;
  }
  /// Other entries may move.
  void erase(active_key& which) noexcept {
    if (&which == &first_) {
      first_ = active_key();
    } else {
      erase_other(which);
    }
  }

  std::size_t size() const noexcept { return others_ + (first_.generation != 0 ? 1 : 0); }

 private:
  /// The slot that has this key, or the free one where it belongs.
  std::size_t slot_of(const gate_key& key) const noexcept;
  active_key* find_other(const gate_key& key) noexcept;
  active_key& insert_other(const gate_key& key);
  void erase_other(active_key& which) noexcept;
  bool is_full() const noexcept { return 4 * (others_ + 1) > 3 * slots_.size(); }
  void grow();
  std::size_t mask() const noexcept { return slots_.size() - 1; }

  static constexpr std::size_t least = 4;
  active_key first_;
  std::size_t others_ = 0;         // in `slots_`
  std::vector<active_key> slots_;  // none, or a power of two
};

/// The completion of an `async_enter`, with its executor.
class gate_caller {
 public:
  using handler = handler_for<void(error_code, gate_pass)>;

  gate_caller(boost::asio::any_io_executor base, handler whose)
      : base_(boost::asio::prefer(std::move(base), boost::asio::execution::outstanding_work.tracked)),
        whose_(std::move(whose)),
        target_(
            boost::asio::prefer(handler_executor(whose_, base_), boost::asio::execution::outstanding_work.tracked)) {}

  boost::asio::cancellation_slot cancellation_slot() const noexcept {
    return boost::asio::get_associated_cancellation_slot(whose_);
  }

  /// Calls the handler on its executor, later. At most once. A pass whose handler is never called, because its context
  /// is destroyed before, is left.
  void complete(error_code error, gate_pass pass = {}) {
    auto call = [h = std::move(whose_), error, pass = std::move(pass)]() mutable {
      std::move(h)(error, std::move(pass));
    };
    boost::asio::post(base_, [target = std::move(target_), call = std::move(call)]() mutable {
      boost::asio::dispatch(target, std::move(call));
    });
  }

 private:
  boost::asio::any_io_executor base_;
  handler whose_;
  boost::asio::any_completion_executor target_;
};

class gate_state;

/// The table of its shard owns it while it waits (`self`), and it owns the state of its gate. There is no cycle without
/// an end: it waits only behind a processing, which ends, or the execution context is shut down.
class gate_waiter : public boost::intrusive::set_base_hook<>, public std::enable_shared_from_this<gate_waiter> {
 public:
  gate_waiter(std::shared_ptr<gate_state> whose, const gate_key& for_key, gate_caller caller);

  /// Lets a cancellation by the user end the wait. To be called before it waits, because from then on another thread
  /// may end it, and the slot belongs to the user again.
  void listen();

  gate_caller& caller() noexcept { return caller_; }
  const gate_key& key() const noexcept { return key_; }

  lease_clock::time_point due{};      ///< The safety time of the processing in front of it ends.
  std::shared_ptr<gate_waiter> self;  ///< Set while it waits.

  friend bool operator<(const gate_waiter& a, const gate_waiter& b) noexcept { return a.due < b.due; }

 private:
  std::shared_ptr<gate_state> whose_;
  gate_key key_;
  gate_caller caller_;
};

}  // namespace zkrecipes::detail

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace zkrecipes::detail {

/// A lock of one byte, for sections of a few dozen nanoseconds.
class spin_lock {
 public:
  void lock() noexcept {
    while (held_.exchange(true, std::memory_order_acquire)) wait();
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  /// Only looks while another thread has the lock, so that the cache line stays shared. The thread that has it may be
  /// suspended; then this one gives its processor away.
  void wait() const noexcept {
    for (int looks = 0; held_.load(std::memory_order_relaxed); ++looks) {
      if (looks < 100) {
        pause();
      } else {
        std::this_thread::yield();
      }
    }
  }
  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#endif
  }

  std::atomic<bool> held_ = false;
};

/// A key has no entry, or an entry with the generation of the pass that is valid, and at most one waiter. Generations
/// are never used again, so a pass that was evicted is told from its successor's.
///
/// Handlers are told when the lock has been released: they may do anything, such as to leave a pass. All functions may
/// be called on any thread.
class alignas(64) gate_shard {
 public:
  void belong_to(gate_state& whose) noexcept { whose_ = &whose; }

  std::optional<gate_pass> try_enter(const gate_key& key, lease_clock::time_point now);

  enum class answer { accepted, declined, to_wait };
  /// The first step of `async_enter`, which needs no waiter: `to_wait` asks for `wait`.
  answer enter(const gate_key& key, lease_clock::time_point now, gate_pass& pass);
  /// Gets in, waits, or is declined. The caller is told.
  void wait(const std::shared_ptr<gate_waiter>& who, lease_clock::time_point now);
  void cancel(gate_waiter& who);

  bool is_valid(const gate_key& key, std::uint64_t generation) noexcept;
  void leave(const gate_key& key, std::uint64_t generation);

  /// Lets every waiter in whose time has come. Returns when the next one's comes, or `never`.
  lease_clock::time_point evict_due(lease_clock::time_point now);

  /// The gate has gone: the passes that are out keep its state alive.
  void orphan(const std::shared_ptr<gate_state>& state);
  /// Destroys all waiters without telling them, because their execution context is shut down.
  void drop() noexcept;

  void add_to(gate_statistics& all) const;

 private:
  class aftermath;
  using waiters = boost::intrusive::multiset<gate_waiter>;

  std::optional<gate_pass> try_evict(const gate_key& key, lease_clock::time_point now);
  void leave_with_others(const gate_key& key, std::uint64_t generation);
  gate_pass admit(active_key& at, lease_clock::time_point now);
  bool is_expired(const active_key& at, lease_clock::time_point now) const noexcept;
  void promote(active_key& at, lease_clock::time_point now, aftermath& then);
  void attach(active_key& at, const std::shared_ptr<gate_waiter>& who, aftermath& then);
  std::shared_ptr<gate_waiter> detach(active_key& at, aftermath& then) noexcept;

  // What it takes to enter and leave stands in one cache line, the table's first key included, because other threads
  // use the shard, too.
  mutable spin_lock lock_;
  bool is_orphaned_ = false;
  std::uint32_t passes_ = 0;           // that were not left yet, also evicted ones
  std::uint64_t last_generation_ = 0;  // also the number of passes that were given
  gate_table active_;

  gate_state* whose_ = nullptr;
  waiters waiting_;  // in the order of their due times
  std::uint64_t waited_ = 0;
  std::uint64_t declined_ = 0;
  std::uint64_t evicted_ = 0;
  std::shared_ptr<gate_state> kept_;  // while it is orphaned and passes are out
};

}  // namespace zkrecipes::detail
