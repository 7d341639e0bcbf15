// The faults of the broker, as the seed draws them.
#pragma once

#include <cstdint>

#include "scenario/rabbit/rabbit_scene.hpp"

namespace zkrecipes::simulation {

class rabbit_faults {
 public:
  /// They strike while the plan has its faults.
  explicit rabbit_faults(rabbit_scene& of);

 private:
  enum class strike {
    crash_node,    ///< Its clients hear of it.
    vanish_node,   ///< They do not.
    stop_node,     ///< It stands still.
    lose_leader,   ///< A queue has none for a time.
    lose_sight,    ///< A queue takes its consumer for lost for a moment.
    raise_alarm,   ///< Publishers are asked to stop.
    delete_queue,  ///< By an operator.
  };
  static constexpr int strikes = static_cast<int>(strike::delete_queue);  // those that are drawn like each other

  void plan(strike what);
  void begin(strike what);
  void end_later(span lasting, void (rabbit_cluster::*how)(int), int node);

  rabbit_scene& of_;
  chance chance_;
};

}  // namespace zkrecipes::simulation
