// A broken rule: the run, the faults that are needed, and the command that shows it again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "run/journal.hpp"
#include "run/plan.hpp"
#include "run/scenarios.hpp"

namespace zkrecipes::simulation {

struct finding {
  plan what;
  const char* scenario;
  violation broken;
  std::vector<std::size_t> needed;  ///< Indices of the faults of the plan that are needed to break the rule.
};

/// The finding for this run, with as few faults as are needed to break the rule.
finding shrunk(plan what, const named_scenario& which, const violation& broken);

/// The command that runs the finding again.
std::string again(const finding& what);

/// The broken rule, the faults that are needed, and the command that runs it again, on several lines.
std::string describe(const finding& what);

}  // namespace zkrecipes::simulation
