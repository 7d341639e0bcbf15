// An election as seen from outside.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/ended_term.hpp>

namespace zkrecipes {

/// The phase of a term.
enum class term_phase {
  none,          ///< No term was ever recorded (or the leader keeps no record: it uses `election`, or is foreign).
  inaugurating,  ///< The leader prepares.
  executing,
  handing_over,  ///< The leader finishes its message in hand, then hands over.
  retired,       ///< The hand-over is complete.
  stalled,       ///< Given up by the leader's own watchdog, because `execute` made no progress.
  died,          ///< The leader's process has died, and somebody who has proof of that has written it into the record.
  unknown,       ///< A phase that a later version of the library has recorded. The term is not finished.
};

/// How a term took over from the one before.
enum class takeover {
  first,           ///< There was no term before.
  clean,           ///< The predecessor had retired.
  confirmed_late,  ///< The predecessor was gone, and confirmed before the hand-over deadline.
  forced,          ///< The predecessor did not confirm before its hand-over deadline. Any way of taking over that a
                   ///< later version has added counts as this.
  died,            ///< The predecessor's process had died, by its record: nothing was waited for but
                   ///< `career_traits::aftermath`.
};

const char* to_string(term_phase phase) noexcept;
const char* to_string(takeover how) noexcept;

/// One client in line for an election.
struct candidate {
  std::string id;
  std::string node;           ///< Its name under the election's path.
  std::int64_t token = 0;     ///< Its `czxid`.
  std::int32_t position = 0;  ///< 0: first in line.
  std::int64_t session_id = 0;
};

/// A change of leadership in progress.
struct hand_over_view {
  std::string from;
  std::string to;  ///< Empty while nobody waits in line.
  /// "finishing": the leader of the term is handing over. "awaiting": the first in line waits for the confirmation of a
  /// predecessor that is gone, or for the aftermath of one that has died.
  std::string state;
  std::chrono::milliseconds elapsed{0};  ///< By the observer's wall clock against the server's.
  /// Time that the leader declared its message in hand may need; once it has died (`term_phase::died`), its aftermath.
  std::chrono::milliseconds deadline{0};
};

/// The state of an election: its leader, its term and the clients in line.
struct election_view {
  std::string path;
  std::int64_t epoch = 0;
  term_phase phase = term_phase::none;
  std::string leader;             ///< Id of the first in line once it leads; a foreign client may have none.
  std::int64_t leader_token = 0;  ///< 0: nobody leads.
  /// Id of the leader that the record names, also when it has gone. Empty if there is no record of a term.
  std::string recorded_leader{};
  /// The phase of the record, also while somebody leads who keeps none.
  term_phase recorded_phase = term_phase::none;
  std::optional<zkrecipes::takeover> how;
  std::chrono::system_clock::time_point since;  ///< When the record was last written: a new phase, or new figures.
  /// When the term began, by the servers' clock. Nothing: it is not known.
  std::optional<std::chrono::system_clock::time_point> began{};
  /// The last eight terms before this one, the latest at the end. Some are missing if a version of the library without
  /// a history has led in between, all if the record was emptied.
  std::vector<ended_term> history{};
  std::vector<candidate> candidates;  ///< In order of arrival, the leader's among them.
  std::optional<hand_over_view> hand_over;
  /// How long ago the leader was asked to give up, by the observer's wall clock against the server's. The request
  /// stands until the leader has left.
  std::optional<std::chrono::milliseconds> resignation_asked;
  /// Why the queue consumer that leads holds off (`message_retry::outage`), shortened. Empty: it does not.
  std::string held_off{};
  /// A call of `process` of the queue consumer that leads has run for 45 s, without a `term::idle`.
  bool is_still = false;
  std::string still_message{};  ///< The name of its message. Empty: not known, or `is_still` is false.
  /// Differs whenever any field above differs, the times excepted.
  std::string fingerprint;
};

}  // namespace zkrecipes
