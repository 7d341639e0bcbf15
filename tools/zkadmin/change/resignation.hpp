// Asks a leader to give up, or ends its place.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/election.hpp>
#include <zkrecipes/session.hpp>

#include "change/intervention.hpp"
#include "cluster/status.hpp"

namespace zkadmin {

/// The leader of an election, and the request to it.
struct resignation {
  candidate_status leader;
  std::int64_t epoch = 0;
  std::optional<std::chrono::milliseconds> asked_before{};  ///< How long ago; then there is no request.
  intervention request{};
};

/// Prepares the request to the present leader at `path`. Throws `failure`, also if the leader is a foreign client,
/// which does not listen to such a request.
boost::asio::awaitable<resignation> find_resignation(zkrecipes::session session, std::string path);

/// The same, and throws `failure`, too, if the leader has been asked already.
boost::asio::awaitable<intervention> prepare_resignation(zkrecipes::session session, std::string path);

/// Prepares the removal of the leader's node. Nothing if the node has gone, or is another one. Throws `failure`.
boost::asio::awaitable<std::optional<intervention>> prepare_eviction(zkrecipes::session session, std::string path,
                                                                     candidate_status leader);

// The states of a hand-over that was asked for, as views of the election show them one after the other.

enum class hand_over_state {
  requested,     ///< The leader was asked, and its record does not say so yet.
  seen,          ///< The leader has seen the request. `finishing` begins with the same write.
  finishing,     ///< The leader finishes its messages in hand.
  awaiting,      ///< The leader is gone, and the successor waits for its confirmation or the deadline.
  inaugurating,  ///< The successor has begun its term.
  executing,
};
inline constexpr std::size_t hand_over_states = 6;

const char* to_string(hand_over_state state) noexcept;

/// A state that a view has shown for the first time.
struct hand_over_step {
  hand_over_state state = hand_over_state::requested;
  std::chrono::milliseconds at{0};  ///< Since the request, by our clock.
  std::string from;                 ///< The leader that was asked.
  std::string to;                   ///< The successor; empty while nobody waits.
  std::int64_t epoch = 0;           ///< That of the term which the record shows.
  std::string takeover;             ///< How the successor's term began; empty before.
};

/// How a state went.
struct hand_over_part {
  hand_over_state state = hand_over_state::requested;
  bool was_seen = false;
  std::optional<std::chrono::milliseconds> lasted{};  ///< Nothing: it is not known, or goes on.
  bool at_most = false;                               ///< `lasted` holds states that were not seen, too.
  bool from_record = false;                           ///< `lasted` is by the times in the record.
  bool was_skipped = false;                           ///< The hand-over had no such state.
};

class hand_over_progress {
 public:
  /// For the leader with this id and token, which leads the term `epoch`.
  hand_over_progress(std::string leader, std::int64_t token, std::int64_t epoch);

  /// The states that this view shows for the first time, in order.
  std::vector<hand_over_step> update(const zkrecipes::election_view& view, std::chrono::milliseconds since_request);

  /// Somebody else leads, and executes.
  bool is_done() const noexcept { return steps_.back().state == hand_over_state::executing; }
  /// Whether the leader that was asked was in line in the last view.
  bool holds_place() const noexcept { return holds_place_; }
  const hand_over_step& last() const noexcept { return steps_.back(); }

  /// All states in order.
  std::vector<hand_over_part> parts() const;

 private:
  using part_iterator = std::vector<hand_over_part>::const_iterator;
  void measure(hand_over_part& part, part_iterator next, part_iterator end) const;
  std::optional<hand_over_state> state_in(const zkrecipes::election_view& view) const;
  void add(hand_over_state state, const zkrecipes::election_view& view, std::chrono::milliseconds at);
  const hand_over_step* find(hand_over_state state) const;

  std::string leader_;
  std::int64_t token_;
  std::int64_t epoch_;
  bool holds_place_ = true;
  std::vector<hand_over_step> steps_;
  std::optional<std::chrono::milliseconds> inaugurated_in_;  // by the record
};

}  // namespace zkadmin
