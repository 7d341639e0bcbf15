// How often something may be done for each of many keys, such as accounts or hosts, inside one process.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/flow/keep.hpp>
#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

/// Settings of a `keyed_limiter`. Over any window of the length T it lets `rate` x T / `per` + `burst` calls of each
/// key through at most.
struct keyed_limiter_options {
  /// Calls of one key that are let through in each `per`, 1 to 1 000 000 000; it has to be set. See
  /// `limiter_options::rate`.
  std::uint64_t rate = 0;
  /// 1 us to 366 days.
  time_span<lease_clock::duration> per{std::chrono::seconds(1)};
  /// Most calls of one key that are let through at once after a pause. 1 to 1 000 000 000. The time after which a whole
  /// burst has come back, `burst` x `per` / `rate`, is 366 days at most.
  std::uint64_t burst = 1;
  /// Which one waits if another one of its key comes: see `keep`. The others are declined. Nothing: all of them wait.
  std::optional<keep> coalesce = std::nullopt;
  /// Most keys that are remembered, 1 to 100 000 000; a key needs about 150 bytes and its length. A key whose credit
  /// has come back is forgotten first. If there is none, the key whose credit comes back next is forgotten, and has all
  /// its credit too early: `keyed_limiter_statistics::evicted`. Keys on which somebody waits are never forgotten, and
  /// may exceed this number. From 2 048 keys on the table has parts, up to 64, with an equal share of this number each.
  /// A part that is full forgets one of its own keys.
  std::size_t most_keys = 1'000'000;
  /// After a hand-over: each key begins without any credit, as if the predecessor had used all of it until this moment.
  bool start_empty = false;
};

/// Sums over all keys. The counters begin with the object.
struct keyed_limiter_statistics {
  std::uint64_t acquired = 0;   ///< Calls that were let through.
  std::uint64_t waited = 0;     ///< Calls that were let through after a wait; they are among `acquired`.
  std::uint64_t declined = 0;   ///< `try_acquire` that returned false, and operations that ended with `declined`.
  std::uint64_t coalesced = 0;  ///< Operations that ended with `declined`; they are among `declined`.
  std::uint64_t held_off = 0;   ///< Calls of `hold_off` that delayed something: those that a longer one covers do not.
  std::uint64_t evicted = 0;    ///< Keys that were forgotten too early, because the table was full.
  std::size_t waiting = 0;      ///< Operations that wait now.
  std::size_t keys = 0;         ///< Keys that are remembered now, some of which can have their credit back.
  lease_clock::duration time_waited{0};  ///< Time of all waits that ended with a call let through.

  friend bool operator==(const keyed_limiter_statistics&, const keyed_limiter_statistics&) = default;
};

namespace detail {
class keyed_limiter_state;
}

/// A `limiter` for each key, with calls of the cost 1: over any window of the length T it lets `rate` x T / `per` +
/// `burst` calls of a key through at most, as long as the table has room for the keys in use
/// (`keyed_limiter_options::most_keys`). A key that is not in use takes no memory for long. Copies share one limiter.
///
/// Thread safety: safe. The execution context must outlive the limiter. Operations that wait when the last copy is
/// destroyed go on; if the context is destroyed, their handlers are destroyed without being called.
class keyed_limiter {
 public:
  using executor_type = boost::asio::any_io_executor;

  /// Stands for nothing, like one that was moved from: lets nothing through, operations complete with `closed`.
  keyed_limiter() noexcept = default;
  /// `executor`: for timers, and for handlers without an executor of their own.
  /// \throws std::invalid_argument naming the executor if it is empty, or the field of `options` with a bad value.
  keyed_limiter(boost::asio::any_io_executor executor, keyed_limiter_options options);
  /// The same, on the executor of an execution context, such as an `io_context`.
  template <std::derived_from<boost::asio::execution_context> Context>
  keyed_limiter(Context& context, keyed_limiter_options options) : keyed_limiter(context.get_executor(), options) {}

  /// Lets a call of this key through if that is possible now. False: not enough credit, `hold_off`, or somebody waits
  /// for the key (nobody is overtaken). It locks a part of the table for a moment, and reads the clock once.
  bool try_acquire(std::string_view key);

  /// Waits until a call of this key is let through, behind those of the key that wait already. With
  /// `keyed_limiter_options::coalesce` only one waits for each key, and the others are declined at once.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `declined` (another one of this key waits; with `keep::newest` one that waits gets it when another comes).
  /// Cancellation: all types; nothing is used then.
  /// Thread safety: as the class says.
  /// Cost: no round trip; one timer for each key that somebody waits for.
  template <token_for<> Token = default_token>
  auto async_acquire(std::string key, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_acquire, state_, std::move(key));
  }

  /// Lets nothing of this key through for this long, 366 days at most, because the service that is called said so
  /// (Retry-After). A call is let through then, but not a burst. A longer hold-off of before goes on counting.
  void hold_off(std::string_view key, time_span<lease_clock::duration> for_time);

  keyed_limiter_statistics statistics() const;
  const keyed_limiter_options& options() const noexcept;
  executor_type get_executor() const noexcept;  ///< Empty for a limiter that stands for nothing.

  explicit keyed_limiter(std::shared_ptr<detail::keyed_limiter_state> shared) noexcept : state_(std::move(shared)) {}

 private:
  using state_ptr = std::shared_ptr<detail::keyed_limiter_state>;
  static void start_acquire(detail::handler_for<void(error_code)>, state_ptr, std::string);

  state_ptr state_;
};

}  // namespace zkrecipes
