// The implementation of an object of RabbitMQ queues: what operators ask, and what they change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rabbitmq/rabbit_frame.hpp"
#include "source/source_core.hpp"

namespace zkrecipes::detail {

// The name of a producer.

/// \throws std::invalid_argument if it has not 1 to 200 bytes, or has a slash or control characters, or is "." or "..".
void require_producer_name(const std::string& name);

// What a message in RabbitMQ may have.

/// The key is a header, and all headers of a message have to fit into one frame, of 4 096 bytes with some brokers.
inline constexpr std::size_t longest_queue_key = 1'000;
inline constexpr std::size_t most_bytes_of_message = 64 * 1024 * 1024;

inline bool is_too_large_for_queue(const std::string& key, const std::string& data) {
  return key.size() > longest_queue_key || key.size() + data.size() > most_bytes_of_message;
}

/// Whether this can be the name of a message of a queue.
inline bool is_queue_message(std::string_view name) { return !name.empty(); }

/// Each operation has a connection to the broker of its own, if it needs one.
class rabbit_core final : public source_core {
 public:
  explicit rabbit_core(rabbit_frame_ptr frame) : source_core(frame, &is_queue_message), queues_(std::move(frame)) {}

 private:
  awaitable<error_code> read_lags(std::string group, std::vector<source_lag>& into) override;
  awaitable<outcome<>> put_back(std::uint32_t shard, std::string group, dead_letter which) override;
  awaitable<error_code> put(std::uint32_t shard, dead_letter which, std::int64_t made) override;

  rabbit_frame_ptr queues_;
};

}  // namespace zkrecipes::detail
