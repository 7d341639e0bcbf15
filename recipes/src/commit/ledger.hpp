// The format of a two-phase commit in ZooKeeper.
//
//   /path/<id>                   {"zkrecipes":"commit","by":"<guid>","participants":["a","b"],"data":"...",
//                                 "decision":"pending","reason":""}; written once more, with the decision
//   /path/<id>/vote-<participant>   {"zkrecipes":"vote","vote":"yes","reason":""}; never changed
//   /path/_undecided, /path/_decided   marks, by which transactions are found: see filing.hpp
//   /path/_coordinator           the line of the coordinators
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/two_phase_commit.hpp>

#include "format/json_object.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

struct commit_record {
  std::string by;  ///< GUID of the operation that began it.
  std::vector<std::string> participants;
  std::string data;
  commit_outcome outcome;
  json_object unknown_fields{};  ///< Fields that a later version of the library has added.

  bool names(const std::string& participant) const;
  bool decided() const noexcept { return outcome.decision != decision::pending; }
};

std::string serialize(const commit_record& record);
std::optional<commit_record> parse_commit(const std::string& data);

std::string serialize(const commit_vote& vote);
/// Nothing if the data is not a vote. The name of the participant is not part of the data.
std::optional<commit_vote> parse_vote(const std::string& data);

/// Whether a text can be the id of a transaction, or the name of a participant.
bool is_transaction_id(std::string_view id);
bool is_participant(std::string_view name);

std::string vote_node(const std::string& node, const std::string& participant);
/// The participants whose votes are not among the children.
std::vector<std::string> missing_votes(const commit_record& record, const std::vector<std::string>& children);

/// A transaction's node as last seen.
struct commit_sight {
  error_code error;  ///< `no_node`, `foreign_data`, or no answer.
  commit_record record;
  node_stat stat;
  std::vector<std::string> children;  ///< If they were asked for.
  bool is_written = false;            ///< We have just written the decision.
};

/// Looks at the node behind a catch-up, so that all that others have completed is seen: one round trip.
awaitable<commit_sight> look_at_commit(core_ptr session, std::string node, persistence how_long, bool watch = false,
                                       bool with_children = false);

/// Whether a versioned write ended so that another look has to tell what came of it.
bool is_overtaken(const error_code& error);

}  // namespace zkrecipes::detail
