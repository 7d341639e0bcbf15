// The term record: the present term of an election, as JSON in the data of the election's node:
//
//   {"zkrecipes":"term","epoch":7,"phase":"executing","how":"clean","hand_over_deadline_ms":10000,
//    "leader":{"id":"billing-2","node":"_c_6b1f...-latch-0000000012","token":4294967321}}
//
// What belongs to this one term, and may be missing, is in `leader`, because a client of an older version carries
// unknown fields of the record itself into the next term.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/election.hpp>

#include "format/json_object.hpp"
#include "line/line_spec.hpp"

namespace zkrecipes::detail {

/// The epoch of the last term that there can be. No term follows it.
inline constexpr auto last_epoch = std::numeric_limits<std::int64_t>::max() - 1;
/// The latest time that is believed, in milliseconds since 1970: the clock of the standard library counts nanoseconds.
inline constexpr std::int64_t latest_ms = 9'000'000'000'000;
/// The number of ended terms that the record keeps.
inline constexpr std::size_t most_ended_terms = 8;

/// The failures with a shard: a fault of the shard itself shows with several members, and at several times.
struct failure_streak {
  std::vector<std::string> by{};  ///< The ids of the members.
  std::int64_t at_ms = 0;         ///< The last failure that was counted, by the servers' clock; 0: it is not known.
  std::int64_t quarantines = 0;   ///< How often in a row the shard was put in quarantine.
};

struct term_record {
  std::int64_t epoch = 0;
  term_phase phase = term_phase::none;
  takeover how = takeover::first;
  std::chrono::milliseconds hand_over_deadline{0};
  std::string leader_id;
  std::string leader_node;
  std::int64_t leader_token = 0;
  /// How long calls that the leader has sent may act once its process has died: what the successor waits then.
  std::chrono::milliseconds aftermath{0};
  /// The phase in which the leader's process has died, if `phase` is `died`.
  term_phase died_in = term_phase::none;
  /// For a shard: failures in a row, each a term that ended by a crash or an exception without progress
  /// (shard_quarantine.hpp). Elections do not count them.
  std::int64_t deaths = 0;
  failure_streak struck{};  ///< Counts only beside `deaths`: an older version clears only these.
  /// When the term began, by the servers' clock, in milliseconds since 1970. 0: it is not known, or not kept. The first
  /// write of a term can not tell it, because it is the time of that write.
  std::int64_t began_ms = 0;
  /// The last terms that have ended (below), the latest at the end. Empty for a shard, because there may be
  /// thousands of them.
  std::vector<std::string> history{};
  /// What the leader's career notes beside the term: the field `consumer`, opaque here, and without the epoch that says
  /// whose notes they are. Notes of another term, which an older version has carried along, count as none.
  json_object notes{};
  json_object unknown_fields{};  ///< Fields that a later version of the library has added.

  /// Whether the leader of this term has nothing more to do in it. A phase that this version does not know is not the
  /// end of a term.
  bool finished() const noexcept {
    return phase == term_phase::none || phase == term_phase::retired || phase == term_phase::stalled ||
           phase == term_phase::died;
  }
};

std::string serialize(const term_record& record);

/// Nothing if the data is not a term record. A phase that this version does not know is `unknown`, an unknown way of
/// taking over counts as `forced`. Empty data gives a record without a term (phase `none`).
std::optional<term_record> parse_record(const std::string& data);

/// What the notes of a term that is going on tell operators of its work.
struct recorded_work {
  std::string held_off{};  ///< Why all attempts fail; empty: it is not so.
  bool is_still = false;   ///< A call has run for long.
  std::string still_message{};
};

recorded_work work_in(const term_record& record);

/// The record in `data` with the phase `died`; everything else stays as it is, also what this version does not know.
/// Nothing if the data is not the record of a term that is going on, or if its phase is one of a later version. It has
/// to be written twice in one transaction, because a candidate that saw `handing_over` takes one write for `retired`.
std::optional<std::string> record_of_death(const std::string& data);

/// The line of an election. It accepts the members of Curator's LeaderLatch and LeaderSelector, and of kazoo's
/// Election.
line_spec election_line(std::string path, election_names names = election_names::leader_latch);

/// The data that a candidate which only campaigns writes into its own node.
std::string campaigner_data(const std::string& id);
/// The data that a candidate which runs a career writes into its own node; `awaiting` while it waits for the
/// confirmation of a predecessor that is gone.
std::string candidate_data(const std::string& id, bool awaiting);
/// Whether a candidate runs this library. Only such a candidate reads requests in its own node. Candidates of Curator
/// and kazoo hold any data that their users like there, and it may be their only description of themselves.
bool is_of_ours(const std::string& data);
/// Whether a candidate keeps a term record once it leads.
bool keeps_record(const std::string& data);
bool is_awaiting(const std::string& data);

// The history of an election: the last terms that have ended, one text each in the record of the present term:
//
// "7 1700000000000 1700000600000 retired billing-2"
//
// The epoch; when it began and ended, in milliseconds since 1970 by the servers' clock, 0 if that is not known; how it
// ended; the id of its leader.

/// The history behind `before`, a term that another one follows in this way. `ended_ms`: when its record was last
/// written; 0: that is not known.
std::vector<std::string> history_after(const term_record& before, takeover how, std::int64_t ended_ms);

/// Those entries of a record of this epoch that can be believed: the epochs are below it, and grow. The last
/// `most_ended_terms` of them. An outcome that this version does not know is kept.
std::vector<std::string> believable(const std::vector<std::string>& entries, std::int64_t epoch);

/// When the term of this record began; 0: that is not known. `written_ms`: when the record was last written.
std::int64_t beginning_of(const term_record& record, std::int64_t written_ms);

/// The history in a record, with the end of a term from the beginning of the next one where nothing else tells it.
std::vector<ended_term> read_history(const term_record& record, std::int64_t written_ms);

}  // namespace zkrecipes::detail
