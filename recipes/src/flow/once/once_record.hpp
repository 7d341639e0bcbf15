// The records of calls that are made once in a period: that of an intent, and that of the path.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "format/json_object.hpp"

namespace zkrecipes::detail {

struct once_record {
  std::string key;
  std::string id;
  std::string guid;
  std::string note{};
  bool is_withdrawn = false;  ///< Another intent may take its place.
  json_object unknown_fields{};
};

std::string serialize(const once_record& record);
/// Nothing if it is not the data of an intent.
std::optional<once_record> parse_once_record(const std::string& data);

/// The data of the path.
std::string serialize_period(std::chrono::milliseconds per);
/// Nothing if it is not such data.
std::optional<std::chrono::milliseconds> parse_period(const std::string& data);

}  // namespace zkrecipes::detail
