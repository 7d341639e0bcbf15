// Workers of several processes that make their steps at the same pace.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include <zkrecipes/completion_token.hpp>
#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/flow/balance.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// Settings of a `shared_balance`.
struct shared_balance_options {
  /// Our name, for operators. 1 to 256 bytes, no control characters. Processes may have the same.
  std::string id{};
  /// By how many steps two tracks may differ, in steps. 1 to 1 000 000 000, the same in all processes. The rate of a
  /// track is bound by it: see docs/recipes/shared-balance.md.
  std::uint64_t range = 100;
};

/// What a `shared_balance` knows at the moment. No server is asked.
struct shared_balance_status {
  std::vector<balance_track_status> tracks{};  ///< Those of this process, in the order in which they were made.
  std::uint64_t range = 0;                     ///< As in the options.
  std::uint64_t limit = 0;                     ///< The limit as this process has read it last. It may be higher by now.
  std::uint64_t floor = 0;                     ///< So many steps of all its tracks this process has told to the others.
  bool is_member = false;  ///< Its tracks take part in the balance, if `valid_until` has not passed.
  bool is_pacer = false;   ///< This process computes the limit.
  /// Until when the tracks may move if nothing more is heard from the servers. The clock's zero without a membership.
  lease_clock::time_point valid_until{};
  std::uint64_t joins = 0;  ///< How often it has joined. After the first time its tracks may have been moved forward.
  /// Why the latest try to join, or to move the limit, had no success. Clear after the next one that had.
  error_code error{};
  /// The node of a live member whose floor this process can not know, so that it can not move the limit: `error` is
  /// `no_auth` (we have no right to read it, and have left the pace to others; it is read again after 1 to 30 seconds)
  /// or `foreign_data`. With `no_auth` this does no harm while another member, which can read all, is the pacer. If all
  /// members tell one, the limit stays. Empty: there is none, or this process has not tried to be the pacer.
  std::string obstacle{};
};

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

namespace detail {
class shared_balance_state;
}

/// Keeps the tracks of all processes at a path within a range: the steps of two live tracks never differ by more than
/// `shared_balance_options::range`, under the conditions of docs/guarantees.md for "while we believe that we own
/// something". All advance at the rate of the slowest, and no faster than the servers pass the progress on, so
/// docs/recipes/shared-balance.md tells when not to use it.
///
/// A process is a member while it has tracks: an ephemeral node tells how many steps its slowest track has made. One
/// member, the pacer, writes the limit: the smallest of these numbers and the range. A track is live while its process
/// is a member and the lease of its session lasts, which each move looks at; the moment of a move is the one of that
/// look. A process that dies or pauses holds up the others until its session has ended.
///
/// Thread safety: safe.
class shared_balance {
 public:
  using executor_type = boost::asio::any_io_executor;

  /// Stands for nothing, like one that was moved from: its tracks stand for nothing, operations complete with `closed`.
  shared_balance() noexcept;
  /// \throws std::invalid_argument naming the bad path or option.
  shared_balance(session over, std::string path, shared_balance_options options);
  ~shared_balance();  ///< As `stop`.
  shared_balance(shared_balance&&) noexcept;
  shared_balance& operator=(shared_balance&&) noexcept;

  /// Takes part in the balance until stopped: joins when there is a track, and again after the loss of the session or
  /// of our node. When it ends, moves that wait complete with `closed`.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: none after `stop`; `busy` (it runs already), `size_mismatch` (the path has another range), `foreign_data`
  /// (the limit's node holds something else; it is left as it is), `no_node` (the limit's node, or the parent of the
  /// members, was removed while the other one stands; it is not made again, because nobody knows the limit for sure),
  /// `closed`, `auth_failed`, `no_auth` and other refusals of a server that do not mend.
  /// Cancellation: all types act as `stop`.
  /// Thread safety: as the class says.
  /// Cost: to join two round trips, to leave one. For each granule (a quarter of the range) a write by each process,
  /// a read by each, and by the pacer a read of each member and a write.
  template <token_for<> Token = default_token>
  auto async_run(Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_run, state_);
  }

  /// Ends the run: no track makes a step any more, and our node is removed. `async_run` completes when the server has
  /// confirmed that, or when the connection is lost or the server refuses; then the node is removed later, with the
  /// session at the latest, and the others wait for us until then.
  void stop();

  /// A new track. It begins with the steps of the slowest track of this process; in a process that has none it waits
  /// until the process has joined, and begins at the limit less the range. `name`: 1 to 256 bytes without control
  /// characters, for the status; several tracks may have the same.
  /// \throws std::invalid_argument naming the bad name, std::length_error if this process has 10 000 tracks.
  [[nodiscard]] shared_balance_track track(std::string name) const;

  shared_balance_status status() const;

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  const shared_balance_options& options() const noexcept;
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using state_ptr = std::shared_ptr<detail::shared_balance_state>;
  static void start_run(detail::handler_for<void(error_code)>, state_ptr);

  session session_;
  state_ptr state_;
};

}  // namespace zkrecipes
