// The state of one `double_barrier` object.
#pragma once

#include <memory>
#include <mutex>
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

  std::string problem() const {
    std::lock_guard lock(mutex_);
    return problem_;
  }
  void note_problem(std::string what) {
    std::lock_guard lock(mutex_);
    problem_ = std::move(what);
  }

 private:
  mutable std::mutex mutex_;
  std::string problem_;
};

using double_barrier_ptr = std::shared_ptr<double_barrier_state>;

}  // namespace zkrecipes::detail
