// What all parts of one object of Redis streams share.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/redis/redis_streams.hpp>

#include "broker/broker_connection.hpp"
#include "delivery/read_ahead.hpp"
#include "source/source_core.hpp"

namespace zkrecipes::detail {

struct redis_frame : source_frame {
  broker_frame broker;
  redis_options options;
  std::shared_ptr<read_share> reading = std::make_shared<read_share>();  ///< All readers share it. On the strand.

  std::string stream(std::uint32_t shard) const { return options.stream + ':' + std::to_string(shard); }
};

using redis_frame_ptr = std::shared_ptr<const redis_frame>;

}  // namespace zkrecipes::detail
