// What a source of the user's hands over.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/error.hpp>

namespace zkrecipes {

/// A message of an `external_log` or an `external_queue`.
struct external_message {
  /// Unique in its shard, and the same each time the message comes: `message::name`. In a log it is also the place
  /// behind which `external_log::open` goes on. 1 to 256 bytes without control characters.
  std::string id{};
  std::string key{};  ///< `message::key`.
  std::string data{};
  std::int64_t timestamp = 0;  ///< When it was put, in milliseconds since 1970 (`node_stat::ctime`); 0: not known.
};

/// What `receive` completes with.
struct external_batch {
  error_code error{};  ///< The source is closed, and opened again after a pause; the messages count all the same.
  std::vector<external_message> messages{};
};

}  // namespace zkrecipes
