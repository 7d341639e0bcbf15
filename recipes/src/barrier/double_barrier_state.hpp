// What one `double_barrier` object stands for.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "session/core.hpp"

namespace zkrecipes::detail {

/// One transaction opens a round, and the size of a transaction is limited.
inline constexpr int max_members = 1000;

class double_barrier_state {
 public:
  double_barrier_state(core_ptr over, std::string where, int members, std::string self)
      : session(std::move(over)), path(std::move(where)), size(members), id(std::move(self)) {}

  const core_ptr session;
  const std::string path;
  const int size;
  const std::string id;
};

using double_barrier_ptr = std::shared_ptr<double_barrier_state>;

}  // namespace zkrecipes::detail
