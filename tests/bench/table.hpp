// What was measured, for people and for programs.
#pragma once

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace bench {

/// A cell is null where there is no such operation.
struct row {
  std::string operation;
  std::string unit;
  boost::json::value ours;
  boost::json::value curator;
  boost::json::value kazoo;
};

inline constexpr const char* per_second = "per second";

/// Rates are followed by how many times that of a peer ours is.
void print(const std::vector<row>& rows);
/// `[{operation, unit, ours, curator, kazoo}]`; rates have `times_curator` and `times_kazoo` as well.
boost::json::array to_json(const std::vector<row>& rows);

}  // namespace bench
