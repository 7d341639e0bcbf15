// The format of a two-phase commit in ZooKeeper.
//
//   /path/<id>                   {"zkrecipes":"commit","by":"<guid>","participants":["a","b"],"data":"...",
//                                 "decision":"pending","reason":""}; written once more, with the decision
//   /path/<id>/vote-<participant>   {"zkrecipes":"vote","vote":"yes","reason":""}; never changed
//   /path/_undecided, /path/_decided   marks, by which transactions are found: see transaction_index.hpp
//   /path/_coordinator           the line of the coordinators
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/two_phase_commit.hpp>

#include "format/json_object.hpp"

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

}  // namespace zkrecipes::detail
