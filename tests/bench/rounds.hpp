// Figures that are compared are measured in turns, one round of each after the other on the same server, so that other
// work of the machine affects all of them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "table.hpp"

namespace bench {

/// The median and the spread of the samples.
figure summary(std::vector<double> samples);

/// Something that is measured against others. `round` does one round of a line and returns its rate or time; nothing if
/// there is no such operation.
struct contestant {
  figure row::*column;
  std::function<std::optional<double>(const std::string& line)> round;
};

/// Does one round of each that does not count, then `rounds` rounds of each; every time another one begins. Each cell
/// is the median, with the distance between the least and the largest as a part of it.
row measure_in_turns(const std::string& line, const std::string& unit, const std::vector<contestant>& all, int rounds);

}  // namespace bench
