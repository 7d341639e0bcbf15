// One track of a balance that processes share.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "balance/pending_move.hpp"

namespace zkrecipes::detail {

class shared_pace;

/// All of it but its name is under the lock of the pace.
class shared_track {
 public:
  shared_track(std::shared_ptr<shared_pace> whose, std::string called)
      : pace(std::move(whose)), name(std::move(called)) {}

  const std::shared_ptr<shared_pace> pace;
  const std::string name;
  std::int64_t steps = 0;
  std::list<std::shared_ptr<pending_move>> waiting{};
  bool has_left = false;
};

}  // namespace zkrecipes::detail
