// Workers of one process that make their steps at the same pace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include <zkrecipes/completion_token.hpp>
#include <zkrecipes/detail/initiate.hpp>

namespace zkrecipes {

/// Settings of a `balance`.
struct balance_options {
  /// By how many steps two tracks may differ, in steps. 1 to 1 000 000 000. A small range keeps the tracks close
  /// together; a large one costs less and waits less.
  std::uint64_t range = 100;
};

/// One track.
struct balance_track_status {
  std::string name{};
  std::uint64_t steps = 0;
  bool waiting = false;  ///< An `async_move` waits for the slower tracks.

  friend bool operator==(const balance_track_status&, const balance_track_status&) = default;
};

/// The tracks that are live, in no order, and how far they are apart, in steps.
struct balance_status {
  std::vector<balance_track_status> tracks{};
  std::uint64_t range = 0;  ///< As in the options.
  std::uint64_t limit = 0;  ///< So many steps a track may have made at the moment. It never falls.
  /// The distance between the fastest and the slowest track. While tracks move it may be less than the true one, and
  /// is never more.
  std::uint64_t spread = 0;
  /// The largest distance that was seen. It is looked at when a limit is computed and by `balance::status`, so it may
  /// be less than the largest one that there was, and is never more.
  std::uint64_t largest_spread = 0;

  friend bool operator==(const balance_status&, const balance_status&) = default;
};

namespace detail {
class track_state;
}

class balance;

/// A track of a `balance`, from which it is made. It leaves when it is destroyed. Thread safety: different tracks are
/// safe; the moves of one track are for one thread at a time, so that they need no lock. `leave`, `steps` and `name`
/// may be called by any thread at any time.
class balance_track {
 public:
  using executor_type = boost::asio::any_io_executor;

  balance_track() noexcept;  ///< Stands for nothing, like one that was moved from: its moves complete with `closed`.
  ~balance_track();          ///< As `leave`.
  balance_track(balance_track&&) noexcept;
  balance_track& operator=(balance_track&&) noexcept;

  /// Makes a step if the limit allows it now. False: the track has to wait for slower ones, has a move that waits, or
  /// has left. Cost: about 2 ns, without a lock and without a write to what other threads write; at the end of each
  /// quarter of the range an atomic exchange more, and, if moves wait, a lock and a look at all tracks. At the limit a
  /// lock and a look at all tracks each time, so a loop that calls it until it succeeds holds up the other tracks: use
  /// `async_move` to wait.
  [[nodiscard]] bool try_move();

  /// Makes a step as soon as the limit allows it. A move that can be made is made by the call; one that waits is made
  /// at the latest when no track is behind by more than three quarters of the range. The moves of a track are made in
  /// the order of their calls, and each one that waits takes some 350 bytes.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `closed` (the track has left; the step is not made).
  /// Cancellation: all types, while it waits; the step is not made. A move whose step was made completes without error.
  /// Thread safety: as the class says. The handler runs on its own executor, otherwise on that of the balance, and the
  /// executor of the balance has to be run as well.
  /// Cost: no round trip, thread or timer. That of `try_move` and of a post to the executor; a loop does without the
  /// post with `if (!track.try_move()) co_await track.async_move();`.
  template <token_for<> Token = default_token>
  auto async_move(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_move, state_);
  }

  /// Leaves the balance: the other tracks do not wait for this one any more. Moves that wait complete with `closed`. It
  /// may be called twice. Cost: a lock and a look at all tracks.
  void leave() noexcept;

  /// The steps with which it began (see `balance::track`) and those that it has made.
  std::uint64_t steps() const noexcept;
  const std::string& name() const noexcept;  ///< Empty for a track that stands for nothing.
  executor_type get_executor() const noexcept;

 private:
  friend class balance;
  using state_ptr = std::shared_ptr<detail::track_state>;
  explicit balance_track(state_ptr state) noexcept;
  static void start_move(detail::handler_for<void(error_code)>, state_ptr);

  state_ptr state_;
};

namespace detail {
class balance_core;
}

/// Keeps the tracks of one process within a range: at any moment no two of them differ by more steps than
/// `balance_options::range`. A track that is too far ahead waits; the slowest never does. It needs no session and no
/// server. All advance at the rate of the slowest, so docs/recipes/balance.md tells when not to use it. Thread safety:
/// safe. Copies stand for the same tracks, which live on without it.
class balance {
 public:
  using executor_type = boost::asio::any_io_executor;

  balance() = default;  ///< Stands for nothing: its tracks stand for nothing, either.
  /// \throws std::invalid_argument naming the bad option, or the executor if it is empty.
  balance(executor_type executor, balance_options options);
  explicit balance(executor_type executor) : balance(std::move(executor), balance_options()) {}

  /// A new track, which begins with the steps of the slowest one, so that nobody has to wait for it to catch up.
  /// `name`: 1 to 256 bytes without control characters, for the status; several tracks may have the same. Cost: a lock
  /// and a look at all tracks.
  /// \throws std::invalid_argument naming the bad name, std::length_error if there are 10 000 tracks.
  [[nodiscard]] balance_track track(std::string name) const;

  /// The tracks at this moment. Cost: a lock and a look at all tracks.
  balance_status status() const;

  const balance_options& options() const noexcept;
  executor_type get_executor() const noexcept;

 private:
  std::shared_ptr<detail::balance_core> core_;
};

}  // namespace zkrecipes
