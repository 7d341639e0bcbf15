// How far a group has consumed a log of the user's, as stored.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/json_object.hpp"
#include "topic/failed_attempts.hpp"

namespace zkrecipes::detail {

/// Places are texts of the user's, of which only the order of receipt is known.
struct place_position {
  std::string last{};                ///< It and all in front of it are settled. Empty: nothing is.
  std::vector<std::string> ahead{};  ///< Settled behind the first that is not; in order.
  std::map<std::string, failed_attempts, std::less<>> failed{};
  json_object unknown_fields{};  ///< Those of a later version are kept.
};

std::string serialize(const place_position& position);
/// Nothing if the text is not a position in a log of the user's.
std::optional<place_position> parse_place_position(std::string_view text);

}  // namespace zkrecipes::detail
