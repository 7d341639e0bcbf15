// What all parts of one source of the user's share.
#pragma once

#include <memory>

#include <zkrecipes/consumer/external_source.hpp>

#include "delivery/read_share.hpp"
#include "source/source_frame.hpp"

namespace zkrecipes::detail {

/// The record is that of a feed: of an "external_log" or an "external_queue".
struct external_frame : source_frame {
  external_options options;
  std::shared_ptr<read_share> reading = std::make_shared<read_share>();  ///< All readers share it. On the strand.
};

using external_frame_ptr = std::shared_ptr<const external_frame>;

}  // namespace zkrecipes::detail
