// An entry of a stream, as it was read.
#pragma once

#include <string>

#include "redis/stream_id.hpp"

namespace zkrecipes::detail {

struct stream_entry {
  stream_id id{};
  std::string key{};
  std::string data{};
  bool has_data = true;  ///< False: the field of the data is missing, and `data` has all fields, as JSON.
};

}  // namespace zkrecipes::detail
