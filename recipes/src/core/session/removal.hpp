#pragma once

#include <memory>
#include <utility>

#include <zkrecipes/error.hpp>

#include "session/condition.hpp"

namespace zkrecipes::detail {

/// A removal that goes on in the background.
struct removal {
  explicit removal(scheduler_ptr s) : changed(std::move(s)) {}
  error_code answer;     ///< The answer to the latest try.
  bool is_over = false;  ///< The node is gone, or goes with its session.
  condition changed;
};

using removal_ptr = std::shared_ptr<removal>;

}  // namespace zkrecipes::detail
