// How often something may be done for each of many keys, such as accounts or hosts, inside one process.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/keyed_limiter_options.hpp>
#include <zkrecipes/keyed_limiter_statistics.hpp>

namespace zkrecipes {

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
