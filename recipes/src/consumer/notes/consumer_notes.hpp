// What consumers write into the record of a term: its field `consumer`, which the term itself carries unread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/lease_clock.hpp>

#include "election/term_record.hpp"
#include "format/json_object.hpp"

namespace zkrecipes::detail {

struct consumer_notes {
  /// How many terms in a row, up to this one, have begun because the process of the term before had died.
  std::int32_t crashes = 0;
  /// Messages that may be in hand when the process dies: those that were named before they were begun.
  std::vector<std::string> in_hand{};
  json_object figures{};  ///< What operators see.
  /// How long it takes, from the write of the record on, until all credit of the limit (`message_limit`) is back.
  /// Nothing: it is not known.
  std::optional<lease_clock::duration> limit_level{};

  bool empty() const noexcept { return crashes == 0 && in_hand.empty() && figures == json_object() && !limit_level; }

  friend bool operator==(const consumer_notes&, const consumer_notes&) = default;
};

/// As `term_record::notes`. Empty if there is nothing to say.
json_object to_json(const consumer_notes& notes);
consumer_notes read_notes(const json_object& notes);

/// The notes with which the term behind this one begins.
json_object next_notes(const term_record& before, takeover how);
/// Whether the last write of a term, from `handing_over` to `retired`, may have changed these notes.
bool may_change_unread(const json_object& notes);

}  // namespace zkrecipes::detail
