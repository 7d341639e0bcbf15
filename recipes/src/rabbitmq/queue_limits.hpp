// What a message in RabbitMQ may have.
#pragma once

#include <cstddef>
#include <string>

namespace zkrecipes::detail {

/// The key is a header, and all headers of a message have to fit into one frame, of 4 096 bytes with some brokers.
inline constexpr std::size_t longest_queue_key = 1'000;
inline constexpr std::size_t most_bytes_of_message = 64 * 1024 * 1024;

inline bool is_too_large_for_queue(const std::string& key, const std::string& data) {
  return key.size() > longest_queue_key || key.size() + data.size() > most_bytes_of_message;
}

}  // namespace zkrecipes::detail
