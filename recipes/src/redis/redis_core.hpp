// The implementation of an object of Redis streams: what operators ask, and what they change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redis/redis_frame.hpp"
#include "redis/redis_inquiry.hpp"
#include "redis/stream_position.hpp"
#include "source/source_core.hpp"

namespace zkrecipes::detail {

/// Whether this can be the name of a message of a stream.
inline bool is_stream_message(std::string_view name) { return parse_stream_id(name).has_value(); }

/// Each operation has a connection to the broker of its own, if it needs one.
class redis_core final : public source_core {
 public:
  explicit redis_core(redis_frame_ptr frame) : source_core(frame, &is_stream_message), streams_(std::move(frame)) {}

 private:
  awaitable<outcome<std::string>> record_at(std::uint32_t shard, source_position where, std::string seek) override;
  awaitable<error_code> read_lags(std::string group, std::vector<source_lag>& into) override;
  awaitable<error_code> put(std::uint32_t shard, dead_letter which, std::int64_t made) override;
  awaitable<outcome<stream_id>> last_in_front_of(std::uint32_t shard, source_position where);
  awaitable<outcome<std::vector<stream_id>>> positions(std::uint32_t from, std::uint32_t to, std::string group);
  awaitable<error_code> add_lags(redis_connection& by, std::uint32_t from, std::uint32_t to, std::string group,
                                 std::vector<source_lag>& into);
  awaitable<error_code> ask(redis_connection& by, redis_questions all, bool may_repeat);

  redis_frame_ptr streams_;
};

}  // namespace zkrecipes::detail
