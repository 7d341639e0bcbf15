// Faults of the network between clients and brokers, by the seed.
#pragma once

#include "run/stage.hpp"

namespace zkrecipes::simulation {

/// Connections break, with notice or without, and stand still for a while in either direction. It is the same for all
/// brokers. It outlives the clock's last event of the run.
class broker_weather {
 public:
  /// `longest`: for how long a connection stands still.
  broker_weather(stage& in, span longest);

 private:
  void strike();
  void freeze(const broker_wire_ptr& which);

  stage& in_;
  chance chance_;
  span longest_;
};

}  // namespace zkrecipes::simulation
