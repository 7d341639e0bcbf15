// Workers of several processes that make their steps at the same pace.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/session.hpp>
#include <zkrecipes/shared_balance_options.hpp>
#include <zkrecipes/shared_balance_status.hpp>
#include <zkrecipes/shared_balance_track.hpp>

namespace zkrecipes {

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
