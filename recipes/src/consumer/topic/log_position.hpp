// How far a group has consumed a shard, as stored.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "format/json_object.hpp"
#include "topic/failed_attempts.hpp"
#include "topic/number_ranges.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

struct log_position {
  /// The first message that is not settled; nothing: the first that is there.
  std::optional<message_place> next{};
  number_ranges<std::int32_t> batches{};                            ///< Settled ahead of it, as a whole.
  std::map<std::int32_t, number_ranges<std::uint32_t>> messages{};  ///< Settled ahead of it, by batch.
  std::map<message_place, failed_attempts> failed{};
  /// Batches that are settled, but whose messages are in no dead letter because they could not be read: they stay.
  number_ranges<std::int32_t> kept{};
  std::string seek{};            ///< A GUID of the last seek; empty: there was none.
  json_object unknown_fields{};  ///< Those of a later version are kept.

  bool is_settled(const message_place& which) const;
  /// Whether all messages of the batch with this number are settled, whatever their number.
  bool is_behind(std::int32_t batch) const;
  /// How many messages of a batch are not settled, as far as its name tells.
  std::uint32_t count_left(const batch_name& which) const;
};

std::string serialize(const log_position& position);
/// Nothing if the text is not a position.
std::optional<log_position> parse_position(std::string_view text);

}  // namespace zkrecipes::detail
