// Figures that are compared are taken in turns, a round of each after the other on the same server, so that what the
// machine does meanwhile is shared by all.
#pragma once

#include "table.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// The median, and how much the samples differ.
figure summary(std::vector<double> samples);

/// What can do a round of a line, and says how it went: a rate, a time. Nothing: it has no such operation.
struct contestant {
  figure row::*column;
  std::function<std::optional<double>(const std::string& line)> round;
};

/// A round of each that does not count, then `rounds` of each, the first of them another one each time. Each cell is the
/// median, with the distance between the least and the largest as a part of it.
row measure_in_turns(const std::string& line, const std::string& unit, const std::vector<contestant>& all, int rounds);

}  // namespace bench
