// How often something may be done: a rate with a burst, inside one process.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution_context.hpp>

#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

/// Settings of a `limiter`. Over any window of the length T it lets through a cost of `rate` x T / `per` + `burst` at
/// most.
struct limiter_options {
  /// Cost that is let through in each `per`, 1 to 1 000 000 000; it has to be set. The time for a cost of 1, which is
  /// `per` / `rate`, is rounded up to an eighth of a nanosecond. So very high rates become a little lower: about 10^6 a
  /// second by 0.013 percent at most, about 10^8 a second by 1.3 percent.
  std::uint64_t rate = 0;
  /// 1 us to 366 days.
  time_span<lease_clock::duration> per{std::chrono::seconds(1)};
  /// Most cost that is let through at once after a pause, and the largest cost of one call. 1 to 1 000 000 000. The
  /// time after which a whole burst has come back, `burst` x `per` / `rate`, is 366 days at most.
  std::uint64_t burst = 1;
  /// After a clean hand-over: what `limiter::take_level` of the predecessor has told. 0 to 732 days and 1 s. The time
  /// between the two calls does not count, so less is let through, never more.
  time_span<lease_clock::duration> level{lease_clock::duration::zero()};
  /// After a forced hand-over: the limiter begins without any credit, as if the predecessor had used all of it until
  /// this moment. What it was told by `hold_off` is lost.
  bool start_empty = false;
};

/// The counters begin with the object. They are read one after the other, while calls go on.
struct limiter_statistics {
  std::uint64_t acquired = 0;  ///< Calls that were let through.
  std::uint64_t waited = 0;    ///< Calls that were let through after a wait; they are among `acquired`.
  std::uint64_t declined = 0;  ///< `try_acquire` that returned false, and operations that ended with `timed_out`.
  std::uint64_t held_off = 0;  ///< Calls of `hold_off` that delayed something: those that a longer one covers do not.
  std::size_t waiting = 0;     ///< Operations that wait now.
  lease_clock::duration time_waited{0};  ///< Time of all waits that ended with a call let through.

  friend bool operator==(const limiter_statistics&, const limiter_statistics&) = default;
};

namespace detail {
class limiter_state;
}

/// Lets calls through at a rate (GCRA, the generic cell rate algorithm): over any window of the length T their cost is
/// `rate` x T / `per` + `burst` at most. It needs no session and no server. Copies share one limiter.
///
/// A moment counts as the time of a call: the one at which the limiter looked at its clock, within the call. The clock
/// is steady, and goes on while the machine sleeps (`lease_clock`).
///
/// Thread safety: safe. The execution context must outlive the limiter. Operations that wait when the last copy is
/// destroyed go on; if the context is destroyed, their handlers are destroyed without being called.
class limiter {
 public:
  using executor_type = boost::asio::any_io_executor;

  /// Stands for nothing, like one that was moved from: lets nothing through, operations complete with `closed`.
  limiter() noexcept = default;
  /// `executor`: for timers, and for handlers without an executor of their own.
  /// \throws std::invalid_argument naming the executor if it is empty, or the field of `options` with a bad value.
  limiter(boost::asio::any_io_executor executor, limiter_options options);
  /// The same, on the executor of an execution context, such as an `io_context`.
  template <std::derived_from<boost::asio::execution_context> Context>
  limiter(Context& context, limiter_options options) : limiter(context.get_executor(), options) {}

  /// Lets a call of this cost through if that is possible now. False: not enough credit, `hold_off`, or somebody waits
  /// (nobody is overtaken); a cost of 0 or above `burst`; `take_level` was called. Lock-free; it reads the clock once.
  bool try_acquire(std::uint64_t cost = 1) noexcept;

  /// Waits until a call of this cost is let through, behind those that wait already. What a cancelled operation was
  /// waiting for is left to those behind it.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `bad_arguments` (a cost of 0 or above `burst`), `closed` (`take_level` was called, before or meanwhile).
  /// Cancellation: all types; nothing is used then.
  /// Thread safety: as the class says.
  /// Cost: no round trip; one timer for all that wait.
  template <token_for<> Token = default_token>
  auto async_acquire(std::uint64_t cost = 1, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_acquire, state_, cost);
  }

  /// The same with a limit of the wait. If the call can not be let through within the budget, as it looks from those
  /// that wait now, the operation completes with `timed_out` at once; also if `hold_off` makes it impossible later. The
  /// handler can run later than the budget by as much as its executor is behind.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `timed_out` (nothing is used then), and those of `async_acquire`.
  /// Cancellation: all types; nothing is used then.
  /// Thread safety: as the class says.
  /// Cost: as `async_acquire`.
  template <token_for<> Token = default_token>
  auto async_acquire_for(std::uint64_t cost, time_budget budget, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_acquire_for, state_, cost, budget);
  }

  /// Lets nothing through for this long, 366 days at most, because the service that is called said so (Retry-After). It
  /// then goes on with credit for a cost of 1, not with a burst. A longer hold-off of before goes on counting.
  void hold_off(time_span<lease_clock::duration> for_time);

  /// The time after which the limiter will have all its credit, if nothing is let through until then: zero for one that
  /// is idle, `burst` x `per` / `rate` for one without credit, more during a hold-off.
  lease_clock::duration level() const;
  /// Ends the limiter for a clean hand-over, and tells its level: the successor continues with it by
  /// `limiter_options::level`, in another process as well. From now on nothing is let through, and all operations end
  /// with `closed`. A further call tells what is left of the level.
  lease_clock::duration take_level();

  limiter_statistics statistics() const;
  const limiter_options& options() const noexcept;
  executor_type get_executor() const noexcept;  ///< Empty for a limiter that stands for nothing.

  explicit limiter(std::shared_ptr<detail::limiter_state> shared) noexcept : state_(std::move(shared)) {}

 private:
  using state_ptr = std::shared_ptr<detail::limiter_state>;
  static void start_acquire(detail::handler_for<void(error_code)>, state_ptr, std::uint64_t);
  static void start_acquire_for(detail::handler_for<void(error_code)>, state_ptr, std::uint64_t, time_budget);

  state_ptr state_;
};

}  // namespace zkrecipes
