// An operator who puts the dead letters of parked keys back.
#pragma once

#include <cstdint>
#include <vector>

#include <zkrecipes/queue.hpp>

#include "run/stage.hpp"
#include "scenario/operations.hpp"

namespace zkrecipes::simulation {

/// In the client of the filler. It looks for parked keys a few times while there are faults, and once behind them, when
/// a revival that was interrupted has to be completed. A part of a program, which outlives it.
class reviver {
 public:
  /// `under_way` counts the operators who have not done with their last look. A program that is told to stop has to let
  /// them: a key that was revived in part waits for the rest.
  reviver(stage& in, int number, queue which, operations& with, int& under_way);
  ~reviver() { set_busy(false); }
  reviver(const reviver&) = delete;
  reviver& operator=(const reviver&) = delete;

 private:
  void look();
  void revive();
  void set_busy(bool busy);
  void looks_again();

  stage& in_;
  chance chance_;
  queue queue_;
  operations& operations_;
  std::uint64_t looks_left_;
  std::vector<parked_key> keys_;
  int& under_way_;
  bool is_busy_ = false;
  bool was_last_ = false;
};

}  // namespace zkrecipes::simulation
