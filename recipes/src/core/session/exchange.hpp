#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "backend/reply.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

/// A request in flight, and its answer.
struct exchange {
  exchange(scheduler_ptr s, bool writes) : done(std::move(s)), is_write(writes) {}
  std::optional<backend::reply> answer;
  condition done;
  bool is_write;
};

using exchange_ptr = std::shared_ptr<exchange>;

}  // namespace zkrecipes::detail
