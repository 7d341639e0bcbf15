// The way in which a message leaves its source, or stays in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <zkrecipes/queue_base.hpp>

namespace zkrecipes::detail {

struct settlement {
  enum class kind {
    remove,         ///< The message is done.
    count_attempt,  ///< One more attempt has failed.
    park,           ///< It becomes a dead letter.
  };

  kind how = kind::remove;
  const message* what = nullptr;
  std::string reason{};
  std::string key{};  ///< The key that is parked with the message.
  bool parks_key = false;
  bool is_behind = false;         ///< The key is parked already, and so this message was not processed.
  std::int64_t epoch = 0;         ///< The term that parks it.
  std::int64_t first_failed = 0;  ///< See `dead_letter`.
  std::int64_t last_failed = 0;
  /// The dead letter keeps so many bytes of the data, and the first 1 000 of the key. Nothing: it keeps all of both.
  std::optional<std::size_t> most_data{};
};

}  // namespace zkrecipes::detail
