// The implementation of an object of Redis streams: what operators ask, and what they change.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/redis/redis_streams.hpp>

#include "redis/redis_frame.hpp"
#include "redis/redis_question.hpp"
#include "redis/stream_id.hpp"
#include "redis/stream_position.hpp"
#include "session/operation.hpp"
#include "shards/shard_name.hpp"

namespace zkrecipes::detail {

// The dead letters of a stream.

/// The shard of a letter whose item is `<shard>/<id of the entry>`.
inline std::optional<std::uint32_t> shard_of_stream_letter(std::string_view item) {
  const auto slash = item.find('/');
  if (slash == item.npos || !parse_stream_id(item.substr(slash + 1))) return std::nullopt;
  return parse_shard_name(item.substr(0, slash));
}

/// Each operation has a connection to the broker of its own, if it needs one.
class redis_core : public std::enable_shared_from_this<redis_core> {
 public:
  explicit redis_core(redis_frame_ptr frame) : frame_(std::move(frame)) {}

  const redis_frame_ptr& frame() const noexcept { return frame_; }
  const scheduler_ptr& get_scheduler() const noexcept { return frame_->broker.session->get_scheduler(); }

  awaitable<outcome<>> seek(std::uint32_t shard, std::string group, redis_position where);
  awaitable<outcome<std::vector<redis_lag>>> lag(std::string group);
  awaitable<outcome<std::vector<dead_letter>>> dead_letters(std::string group);
  awaitable<outcome<>> revive(std::string group, dead_letter which);
  awaitable<outcome<>> discard(std::string group, dead_letter which);

 private:
  awaitable<outcome<stream_id>> last_in_front_of(std::uint32_t shard, redis_position where);
  awaitable<outcome<std::vector<stream_id>>> positions(std::uint32_t from, std::uint32_t to, std::string group);
  awaitable<error_code> add_lags(redis_connection& by, std::uint32_t from, std::uint32_t to, std::string group,
                                 std::vector<redis_lag>& into);
  awaitable<error_code> ask(redis_connection& by, redis_questions all, bool may_repeat);
  awaitable<error_code> put(std::uint32_t shard, const dead_letter& which);

  redis_frame_ptr frame_;
};

}  // namespace zkrecipes::detail
