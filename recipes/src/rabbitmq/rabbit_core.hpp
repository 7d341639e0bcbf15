// The implementation of an object of RabbitMQ queues: what operators ask, and what they change.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbitmq/rabbit_frame.hpp"
#include "session/operation.hpp"
#include "shards/shard_name.hpp"

namespace zkrecipes::detail {

// The dead letters of RabbitMQ queues.

/// The shard of a letter whose item is `<shard>/<name of the message>`. The name may have slashes, too.
inline std::optional<std::uint32_t> shard_of_queue_letter(std::string_view item) {
  const auto slash = item.find('/');
  const bool is_named = slash != item.npos && slash + 1 < item.size();
  return is_named ? parse_shard_name(item.substr(0, slash)) : std::nullopt;
}

/// Each operation has a connection to the broker of its own, if it needs one.
class rabbit_core : public std::enable_shared_from_this<rabbit_core> {
 public:
  explicit rabbit_core(rabbit_frame_ptr frame) : frame_(std::move(frame)) {}

  const rabbit_frame_ptr& frame() const noexcept { return frame_; }
  const scheduler_ptr& get_scheduler() const noexcept { return frame_->broker.session->get_scheduler(); }

  awaitable<outcome<std::vector<rabbit_depth>>> depths();
  awaitable<outcome<std::vector<dead_letter>>> dead_letters();
  awaitable<outcome<>> revive(dead_letter which);
  awaitable<outcome<>> discard(dead_letter which);

 private:
  rabbit_frame_ptr frame_;
};

}  // namespace zkrecipes::detail
