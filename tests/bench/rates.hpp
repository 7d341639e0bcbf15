// How many of our operations in a second, without a delay.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace bench {

/// The median over the rounds of each, by the names that the peers' programs use.
std::vector<std::pair<std::string, double>> measure_rates(const std::string& hosts);

}  // namespace bench
