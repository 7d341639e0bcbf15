// The progress of one worker whose steps are balanced with those of other processes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include <zkrecipes/completion_token.hpp>
#include <zkrecipes/detail/initiate.hpp>

namespace zkrecipes {

namespace detail {
class shared_track;
}

class shared_balance;

/// A track of a `shared_balance`, from which it is made. It leaves when it is destroyed. Thread safety: safe. A track
/// lives on without its balance, and moves for as long as `shared_balance::async_run` has not ended.
class shared_balance_track {
 public:
  using executor_type = boost::asio::any_io_executor;

  shared_balance_track() noexcept;  ///< Stands for nothing, like one that was moved from: its moves are `closed`.
  ~shared_balance_track();          ///< As `leave`.
  shared_balance_track(shared_balance_track&&) noexcept;
  shared_balance_track& operator=(shared_balance_track&&) noexcept;

  /// Makes a step if that is allowed now. False: the track has to wait for slower ones, the process is no member at the
  /// moment or its lease has ended, a move of this track waits, the track has left, or the balance does not run. Cost:
  /// two mutexes and a look at the clock; at the end of a granule a look at all tracks of this process and
  /// a post.
  [[nodiscard]] bool try_move();

  /// Makes a step as soon as it is allowed. The moves of a track are made in the order of their calls.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `closed` (the track has left, or the balance does not run: `async_run` has not been called yet, or has
  /// ended, before or meanwhile). The step is not made then.
  /// Cancellation: all types, while it waits; the step is not made. A move whose step was made completes without error.
  /// Thread safety: as the class says. The handler runs on its own executor, otherwise on that of the session.
  /// Cost: no round trip of its own. That of `try_move`, and of a post.
  template <token_for<> Token = default_token>
  auto async_move(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_move, state_);
  }

  /// Leaves the balance. Moves of this track that wait complete with `closed`, and it makes no further step. The call
  /// waits for nothing: the other processes go on waiting for the track until this process has written the steps of its
  /// slowest track again (one round trip) or, if it was the last one, has removed its node; without a connection until
  /// the session has ended. It may be called twice.
  void leave() noexcept;

  /// The position of the track: where it began, and the steps that it has made. When the process joins again after it
  /// has lost its session, a track that is behind the limit by more than the range is moved forward to there.
  std::uint64_t steps() const noexcept;
  const std::string& name() const noexcept;  ///< Empty for a track that stands for nothing.
  executor_type get_executor() const noexcept;

 private:
  friend class shared_balance;
  using state_ptr = std::shared_ptr<detail::shared_track>;
  explicit shared_balance_track(state_ptr state) noexcept;
  static void start_move(detail::handler_for<void(error_code)>, state_ptr);

  state_ptr state_;
};

}  // namespace zkrecipes
