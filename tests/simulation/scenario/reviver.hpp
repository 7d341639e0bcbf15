// An operator who puts the dead letters of parked keys back.
#pragma once

#include <cstdint>
#include <vector>

#include <zkrecipes/queue.hpp>

#include "run/stage.hpp"
#include "scenario/operations.hpp"

namespace zkrecipes::simulation {

/// It looks for parked keys a few times while there are faults, and once behind them, when a revival that was
/// interrupted has to be completed. A part of a program, which outlives it.
class reviver {
 public:
  reviver(stage& in, queue which, operations& with);

  void stop() { stopping_ = true; }

 private:
  void look();
  void revive();
  void looks_again();

  stage& in_;
  chance chance_;
  queue queue_;
  operations& operations_;
  std::uint64_t looks_left_;
  std::vector<parked_key> keys_;
  bool was_last_ = false;
  bool stopping_ = false;
};

}  // namespace zkrecipes::simulation
