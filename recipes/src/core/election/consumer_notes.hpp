// What the consumer of a queue notes in the record of its term.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/lease_clock.hpp>

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

/// As a field of the record of this term.
json_object to_json(const consumer_notes& notes, std::int64_t epoch);
/// Notes of another term, which an older version of the library has carried along, count as none.
consumer_notes read_notes(const json_object& field, std::int64_t epoch);

}  // namespace zkrecipes::detail
