// What all parts of one queue object share.
#pragma once

#include <memory>

#include <zkrecipes/queue_base.hpp>

#include "queue/queue_layout.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

struct queue_frame {
  core_ptr session;
  queue_layout where;
  queue_options options;
};

using shared_frame = std::shared_ptr<const queue_frame>;

}  // namespace zkrecipes::detail
