// Makes the first in line the leader of a new term.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "consumer/term_state.hpp"

namespace zkrecipes::detail {

/// The record as it was last read, perhaps a while ago.
struct known_record {
  term_record record;
  std::int32_t version = 0;
};

/// Nothing if the node's data is not a term record.
std::optional<known_record> to_known(const backend::reply& node);

struct take_over_request {
  place_ptr where;  ///< First in line.
  std::string path;
  std::string id;
  std::chrono::milliseconds hand_over_deadline{0};
  std::function<bool()> give_up;      ///< Asked after every wake-up of `where->changed()`.
  std::optional<known_record> known;  ///< Saves a look if it is still right.
};

/// Keeps `known` up to date while we are next in line; ends when `done` says so. Only the next in line watches the
/// record, so that a change wakes no other candidate.
awaitable<void> follow_record(place_ptr where, std::string path, std::shared_ptr<std::optional<known_record>> known,
                              std::shared_ptr<bool> done);

/// Begins the next term with a write that fences the previous term. If the predecessor has not retired, waits until it
/// confirms, or until its hand-over deadline has passed on our clock since we became first.
/// Errors: `operation_aborted` (gave up), why the place was lost, `foreign_data`, `no_auth`.
awaitable<outcome<term_ptr>> take_over(take_over_request what);

}  // namespace zkrecipes::detail
