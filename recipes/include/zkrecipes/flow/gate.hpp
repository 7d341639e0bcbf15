// Duplicate suppression inside one process: of many calls for one key one is processed, one waits, the others are
// declined.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <zkrecipes/detail/gate_key.hpp>
#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/flow/keep.hpp>
#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

/// Settings of a `gate`.
struct gate_options {
  /// A processing that takes longer than this, counted from its start, does not hold up the others of its key: its pass
  /// becomes invalid when another caller is there to begin. The clock is coarse: it can be up to 10 ms less. More than
  /// 0; the maximum: no limit.
  time_budget safety = std::chrono::seconds(30);
  zkrecipes::keep keep = zkrecipes::keep::first;
};

/// What a gate has done so far, and what it holds at present.
struct gate_statistics {
  std::uint64_t accepted = 0;  ///< Passes that were given, at once or after a wait.
  std::uint64_t waited = 0;    ///< Callers that began to wait.
  std::uint64_t declined = 0;  ///< Callers that were told `declined`. `try_enter` does not count.
  std::uint64_t evicted = 0;   ///< Passes that became invalid because of `gate_options::safety`.
  std::size_t active = 0;      ///< Keys that are being processed.
  std::size_t waiting = 0;     ///< Callers that wait.
};

namespace detail {
class gate_shard;
}

/// The permission to process a key, from `gate`. It lasts until it is left or destroyed. At most one pass of a key is
/// valid.
///
/// Move-only. It may outlive its gate, and may be left on any thread. Thread safety: distinct passes are safe; of one
/// pass `valid()` is safe beside itself.
class gate_pass {
 public:
  gate_pass() noexcept = default;  ///< No permission: not valid.
  gate_pass(gate_pass&& other) noexcept;
  gate_pass& operator=(gate_pass&& other) noexcept;  ///< Leaves what was held before.
  ~gate_pass() {
    if (where_) leave();
  }

  /// False once it was left or moved from, and once another caller has got in because this processing took longer than
  /// `gate_options::safety`. This is a snapshot: the pass can become invalid right after the look, if it has been held
  /// for that long. Costs a look-up in memory.
  bool valid() const noexcept;

  /// Ends the processing: the caller that waits for the key gets in. Nothing happens if the pass is not valid any more;
  /// the pass of a successor stays as it is.
  void leave() noexcept;

 private:
  friend class detail::gate_shard;
  gate_pass(detail::gate_shard& where, const detail::gate_key& key, std::uint64_t generation) noexcept
      : where_(&where), key_(key), generation_(generation) {}

  detail::gate_shard* where_ = nullptr;
  detail::gate_key key_;
  std::uint64_t generation_ = 0;
};

namespace detail {
class gate_state;
}

/// Lets one caller at a time process a key, lets one more wait, and declines the others. It knows the keys that are
/// being processed, and none that were: it is no memory of what is done, and nothing becomes exactly once by it
/// (docs/recipes/gate.md). Nothing of it is in ZooKeeper, and it needs no session.
///
/// A key is known by a fingerprint of 128 bits with a random secret of the gate. Two keys of the same fingerprint would
/// be treated as one; the probability is below 10^-20 with a thousand million keys at the same time.
///
/// Move-only. Passes, and callers that wait, may outlive the gate. When its execution context is destroyed, callers
/// that wait are dropped; passes may be left later, and nobody gets in any more. Thread safety: safe, apart from moving
/// it.
class gate {
 public:
  using executor_type = boost::asio::any_io_executor;

  gate() noexcept;  ///< Lets nobody in, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the executor if it is empty, or the option with a bad value.
  gate(executor_type executor, gate_options options);
  explicit gate(executor_type executor) : gate(std::move(executor), gate_options()) {}
  /// The same, on the executor of an execution context, such as an `io_context`.
  template <std::derived_from<boost::asio::execution_context> Context>
  gate(Context& context, gate_options options) : gate(context.get_executor(), options) {}
  template <std::derived_from<boost::asio::execution_context> Context>
  explicit gate(Context& context) : gate(context, gate_options()) {}
  explicit gate(std::shared_ptr<detail::gate_state> state) noexcept;
  gate(gate&&) noexcept;
  gate& operator=(gate&&) noexcept;
  ~gate();

  /// Completes with a pass when the caller may process the key: at once if nobody processes it, else when that pass is
  /// left or was held for longer than `gate_options::safety`. One caller can wait for a key; `gate_options::keep` says
  /// which one of two is declined. After `declined` a processing of the key begins that is later than the declined
  /// call, and sees what was written to memory before that call. The only exception: the caller that waits is cancelled
  /// (or its execution context is destroyed). It has to see to it then that the key is processed.
  ///
  /// Signature: `void(error_code, gate_pass)`.
  /// Errors: `declined`, `closed` (the gate was made by default or moved from).
  /// Cancellation: all types, while it waits: it ends with `operation_aborted`, and another caller can wait.
  /// Thread safety: as the class says.
  /// Cost: no request; one allocation if it waits, and what Asio needs to call the handler.
  template <token_for<gate_pass> Token = default_token>
  auto async_enter(std::string_view key, Token&& token = Token()) {
    return detail::initiate<void(error_code, gate_pass)>(token, &start_enter, state_, fingerprint(key));
  }

  /// A pass if nobody processes the key, or if that pass was held for longer than `gate_options::safety` and nobody
  /// waits; else nothing. It never waits. Nothing is no promise: a processing that began before this call may be the
  /// last one. A caller with news has to use `async_enter`. Allocates only while there are more keys than ever before.
  std::optional<gate_pass> try_enter(std::string_view key);

  /// The numbers of all keys together. They are read part by part while the gate is used, so they need not fit exactly.
  gate_statistics statistics() const;

  const gate_options& options() const noexcept;
  executor_type get_executor() const noexcept;  ///< Empty if it was made by default or moved from.

 private:
  using state_ptr = std::shared_ptr<detail::gate_state>;
  detail::gate_key fingerprint(std::string_view key) const noexcept;
  static void start_enter(detail::handler_for<void(error_code, gate_pass)>, state_ptr, detail::gate_key);

  state_ptr state_;
};

}  // namespace zkrecipes
