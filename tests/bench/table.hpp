// The measured figures, as a table for people and as JSON for programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>

namespace bench {

/// A figure (null if there is no such operation) and its spread: the distance between the least and the largest round,
/// as a part of the median.
struct figure {
  boost::json::value value;
  std::optional<double> spread;

  figure() = default;
  figure(std::nullptr_t) {}
  figure(boost::json::value v) : value(std::move(v)) {}
  figure(double v) : value(v) {}
  figure(double v, double varied) : value(v), spread(varied) {}
};

struct row {
  std::string operation;
  std::string unit;
  figure ours{};
  figure curator{};
  figure kazoo{};
  figure bare{};       ///< A loop around the C client that does the least that the operation needs.
  std::string part{};  ///< The part of the measurement, as `--part` names it.
};

inline constexpr const char* per_second = "per second";
inline constexpr const char* nanoseconds = "nanoseconds";

/// Prints the table. Behind each rate, and each time in nanoseconds, stands how many times the others' ours is.
void print(const std::vector<row>& rows);
/// `[{part, operation, unit, ours, curator, kazoo, bare}]`, with `..._spread` for figures that were measured in turns.
/// Rates and nanoseconds also have `times_curator`, `times_kazoo` and `times_bare`.
boost::json::array to_json(const std::vector<row>& rows);

}  // namespace bench
