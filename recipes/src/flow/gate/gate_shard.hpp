// A part of a gate's keys, with a lock of its own: the machine that says who may process a key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <boost/intrusive/set.hpp>

#include <zkrecipes/flow/gate.hpp>

#include "gate/gate_table.hpp"
#include "gate/gate_waiter.hpp"
#include "gate/spin_lock.hpp"

namespace zkrecipes::detail {

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
