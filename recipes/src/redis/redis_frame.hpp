// What all parts of one object of Redis streams share.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/redis/redis_streams.hpp>

#include "broker/broker_frame.hpp"
#include "delivery/read_share.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

struct redis_frame {
  broker_frame broker;
  topic_layout where;  ///< Positions, marks and dead letters have the places of those of a topic.
  redis_options options;
  std::shared_ptr<read_share> reading = std::make_shared<read_share>();  ///< All readers share it. On the strand.

  std::string stream(std::uint32_t shard) const { return options.stream + ':' + std::to_string(shard); }
};

using redis_frame_ptr = std::shared_ptr<const redis_frame>;

/// Compares the record at the path with our options, and makes it if it is missing. Errors: as `agree_on_record`.
awaitable<error_code> agree_on_streams(redis_frame_ptr frame);
/// Compares it only. Errors: `no_node` (there is none), and the same.
awaitable<error_code> find_streams(redis_frame_ptr frame);
/// The request that reads it, and what its reply says of our options. Errors: as `compare_record`.
backend::request request_of_streams(const redis_frame& frame);
error_code compare_streams(const redis_frame& frame, const backend::reply& found);

}  // namespace zkrecipes::detail
