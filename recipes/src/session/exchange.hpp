#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "backend/reply.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

/// A request in flight, and its answer.
struct exchange {
  explicit exchange(scheduler_ptr s) : done(std::move(s)) {}
  std::optional<backend::reply> answer;
  condition done;
};

using exchange_ptr = std::shared_ptr<exchange>;

}  // namespace zkrecipes::detail
