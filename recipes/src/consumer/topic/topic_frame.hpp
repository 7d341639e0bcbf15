// What all parts of one topic object share.
#pragma once

#include <memory>

#include <zkrecipes/consumer/topic.hpp>

#include "source/source_core.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

struct topic_frame : source_frame {
  topic_options options;
};

using topic_frame_ptr = std::shared_ptr<const topic_frame>;

}  // namespace zkrecipes::detail
