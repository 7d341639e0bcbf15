#include "run/finding.hpp"

#include <utility>

#include "run/shrink.hpp"

namespace zkrecipes::simulation {

finding shrunk(plan what, const named_scenario& which, const violation& broken) {
  auto needed = shrink(what, which.make, broken);
  return {std::move(what), which.name, broken, std::move(needed)};
}

std::string again(const finding& what) {
  std::string list;
  for (auto index : what.needed) list += (list.empty() ? "" : ",") + std::to_string(index);
  return std::string("zkrecipes-simulate --scenario ") + what.scenario + " --seed " + std::to_string(what.what.seed) +
         " --faults " + (list.empty() ? "-" : list) + " --trace";
}

std::string describe(const finding& what) {
  auto text = "seed " + std::to_string(what.what.seed) + " broke \"" + what.broken.invariant +
              "\": " + what.broken.detail + "\nof its " + std::to_string(what.what.faults.size()) +
              " faults these are needed:\n";
  for (auto index : what.needed) text += "  " + std::to_string(index) + " " + to_string(what.what.faults[index]) + "\n";
  return text + "again: " + again(what) + "\n";
}

}  // namespace zkrecipes::simulation
