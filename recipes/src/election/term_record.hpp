// What the node of an election says about its present term, as JSON in the node's own data:
//
//   {"zkrecipes":"term","epoch":7,"phase":"executing","how":"clean","hand_over_deadline_ms":10000,
//    "leader":{"id":"billing-2","node":"_c_6b1f...-latch-0000000012","token":4294967321}}
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <zkrecipes/election.hpp>
#include <zkrecipes/election_view.hpp>

#include "line/place.hpp"

namespace zkrecipes::detail {

struct term_record {
  std::int64_t epoch = 0;
  term_phase phase = term_phase::none;
  takeover how = takeover::first;
  std::chrono::milliseconds hand_over_deadline{0};
  std::string leader_id;
  std::string leader_node;
  std::int64_t leader_token = 0;

  /// The leader of this term has nothing more to do under it.
  bool finished() const noexcept {
    return phase == term_phase::none || phase == term_phase::retired || phase == term_phase::stalled;
  }
};

std::string serialize(const term_record& record);

/// Nothing if the data is not a term record. Empty data is the record of no term.
std::optional<term_record> parse_record(const std::string& data);

/// How the line of an election looks: Curator's LeaderLatch and LeaderSelector, and kazoo's Election.
line_spec election_line(std::string path, election_names names = election_names::leader_latch);

/// What a candidate that only campaigns writes into its own node.
std::string campaigner_data(const std::string& id);
/// What a candidate that runs a career writes into its own node; `awaiting` while it waits for the confirmation of a
/// predecessor that is gone.
std::string candidate_data(const std::string& id, bool awaiting);
/// Whether a candidate is of this library: only those read requests in their own nodes. Curator's and kazoo's write what
/// their users like, and any of that can be all they say about themselves.
bool is_of_ours(const std::string& data);
/// Whether a candidate keeps a term record once it leads.
bool keeps_record(const std::string& data);
bool is_awaiting(const std::string& data);

}  // namespace zkrecipes::detail
