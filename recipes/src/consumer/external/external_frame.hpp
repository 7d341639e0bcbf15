// What all parts of one source of the user's share.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/consumer/external_source.hpp>

#include "delivery/read_share.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

struct external_frame {
  core_ptr session;
  topic_layout where;  ///< Positions, memories, marks and dead letters have the places of those of a topic.
  external_options options;
  std::shared_ptr<read_share> reading = std::make_shared<read_share>();  ///< All readers share it. On the strand.
};

using external_frame_ptr = std::shared_ptr<const external_frame>;

/// Compares the record at the path with our options, and makes it if it is missing. `kind`: "external_log" or
/// "external_queue". Errors: as `agree_on_record`.
awaitable<error_code> agree_on_source(external_frame_ptr frame, std::string kind);
/// The request that reads it, and what its reply says of our options. Errors: as `compare_record`.
backend::request request_of_source(const external_frame& frame);
error_code compare_source(const external_frame& frame, const std::string& kind, const backend::reply& found);

}  // namespace zkrecipes::detail
