// A rule that was broken: where, by which faults, and the command that shows it again.
#pragma once

#include "run/journal.hpp"
#include "run/plan.hpp"
#include "run/scenarios.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace zkrecipes::simulation {

struct finding {
  plan what;
  const char* scenario;
  violation broken;
  std::vector<std::size_t> needed;  ///< Those of the plan's faults without which the rule holds.
};

/// The same run with as few faults as it takes.
finding shrunk(plan what, const named_scenario& which, const violation& broken);

/// The command that runs it again.
std::string again(const finding& what);

/// What was broken, the faults that are needed, and the command, on lines of their own.
std::string describe(const finding& what);

}  // namespace zkrecipes::simulation
