// The state of a cluster as metrics.
#pragma once

#include <chrono>
#include <string>

#include "cluster/recipe_status.hpp"
#include "settings/limits.hpp"

namespace zkadmin {

/// One read of the cluster.
struct refreshed {
  findings seen{};
  std::chrono::system_clock::time_point ended{};
  std::chrono::milliseconds took{0};
};

/// Text in the exposition format of Prometheus. A value that is not known has no sample, and `zkadmin_complete` is 0
/// then.
std::string to_metrics(const refreshed& last, const wanted_kinds& kinds, const problem_limits& limits);

/// Before the first read: nothing is known.
std::string metrics_of_nothing();

}  // namespace zkadmin
