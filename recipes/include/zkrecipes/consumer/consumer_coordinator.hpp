// Runs a career on one of several replicas at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// The phases of a run.
enum class coordinator_phase {
  idle,          ///< There is no run: it has not begun yet, or it has ended.
  campaigning,   ///< It gets in line, waits for its turn, or pauses after a term.
  taking_over,   ///< First in line: it waits for the hand-over of the predecessor, and begins its term.
  inaugurating,  ///< The career's `inaugurate` runs.
  executing,     ///< The career's `execute` runs, again and again.
  handing_over,  ///< The message in hand is finished, then the career's `hand_over` runs.
  ending,        ///< The career's `ended` runs, and the place in line is given up.
};

const char* to_string(coordinator_phase phase) noexcept;

/// The state of a coordinator, as it knows it without asking a server.
struct coordinator_status {
  coordinator_phase phase = coordinator_phase::idle;
  /// When the phase began; the clock's zero before the first run.
  lease_clock::time_point since{};
  /// The term that was last seen in the record, our own while we lead; 0: none. The record is read on the way into the
  /// line, and while we are next in line. `election::async_view` asks a server.
  std::int64_t epoch = 0;
  /// Id of the leader of that term, which may have ended meanwhile. Empty if it is not known.
  std::string leader{};
  /// Number of candidates ahead of us as last seen; nothing while we are not in line.
  std::optional<std::size_t> ahead{};
  /// Why we are not in line, while it is waited until people mend it (`no_auth`, say), or a server is less busy.
  error_code trouble{};
};

namespace detail {
class coordinator;
}

/// Settings of a `consumer_coordinator`.
struct consumer_coordinator_options {
  /// Our name, as operators see it. Not empty, at most 256 bytes, no control characters.
  std::string id{};
  /// Pause before campaigning again after a term, so that the others come first. 0 to 1 h.
  std::chrono::milliseconds rest{0};
};

/// Runs a career whenever we are elected at `path`. docs/hand-over.md describes the protocol, its record in the data of
/// the node at `path`, and its guarantees. Thread safety: safe.
class consumer_coordinator {
 public:
  using executor_type = boost::asio::any_io_executor;

  consumer_coordinator() noexcept;  ///< Runs nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path or option.
  consumer_coordinator(session over, std::string path, consumer_coordinator_options options);
  ~consumer_coordinator();  ///< As `stop`.
  consumer_coordinator(consumer_coordinator&&) noexcept;
  consumer_coordinator& operator=(consumer_coordinator&&) noexcept;

  /// Campaigns, leads and hands over, again and again, until stopped. `career` must outlive the operation.
  /// \throws std::invalid_argument naming the field of `career_traits` that is out of bounds.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: none after `stop`; `busy` (it runs already), `career_failed` (see `failure`), `foreign_data` (the data of
  /// the node is not a term record, or is that of the last epoch, 2^63 - 2, or another recipe uses the path),
  /// `no_node` (the session's root is missing), `no_children_for_ephemerals` (the node at the path, or one above it, is
  /// ephemeral), `too_large` (the path, our id and what others have added to the record are more than
  /// `session_options::jute_maxbuffer`), `invalid_acl` (`session_options::default_acl`), `no_auth`,
  /// `sequence_exhausted`, `closed`, `auth_failed`.
  /// Cancellation: `total` and `partial` act as `stop`; `terminal` also cancels the message in hand. In each case the
  /// term is handed over first, and no node of ours stays behind.
  /// Thread safety: as the class says; the career is called on a strand of the session's executor, but its `traits` by
  /// the calling thread.
  /// Cost: 1 round trip to get in line. While waiting, one read with a watch each of our own node and of the member
  /// ahead, and of the record when we are next. A take-over 1 round trip where the predecessor has retired and the
  /// record is known, as it is to the next in line, else 2. A term writes three times more: executing, handing over,
  /// retired.
  template <token_for<> Token = default_token>
  auto async_run(leader_career& career, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_run, coordinator_, checked(career));
  }

  /// Ends the present term, if we lead, with a hand-over; then campaigns again behind the others.
  void resign();

  /// Ends the run after a hand-over.
  void stop();

  /// What it does at the moment: its phase, the term, the leader, and the place in line. It asks no server.
  coordinator_status status() const;

  /// The exception that ended the run with `career_failed`.
  std::exception_ptr failure() const;

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  const consumer_coordinator_options& options() const noexcept;
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using coordinator_ptr = std::shared_ptr<detail::coordinator>;
  static leader_career* checked(leader_career& career);
  static void start_run(detail::handler_for<void(error_code)>, coordinator_ptr, leader_career*);

  session session_;
  coordinator_ptr coordinator_;
};

}  // namespace zkrecipes
