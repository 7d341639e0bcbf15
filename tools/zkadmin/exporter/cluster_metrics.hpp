// The state of a cluster as metrics.
#pragma once

#include <chrono>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>

#include "cluster/findings.hpp"
#include "problems/limits.hpp"

namespace zkadmin {

/// Text in the exposition format of Prometheus, version 0.0.4.
struct metric_label {
  std::string_view name;
  std::string value;
};

/// Families of gauges, each with its samples. Prometheus refuses a whole text with two equal samples, so the second one
/// is left out: names of any bytes may be the same once they are valid UTF-8.
class metrics_text {
 public:
  /// Begins a family: the samples that follow belong to it. A family without samples is left out.
  void begin(std::string_view name, std::string_view help);

  void add(std::initializer_list<metric_label> labels, double value);
  void add(double value) { add({}, value); }

  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  std::string name_;
  std::string heading_;  ///< That of the family, until its first sample is added.
  std::set<std::string> seen_;
};

/// One read of the cluster.
struct refreshed {
  findings seen{};
  std::chrono::system_clock::time_point ended{};
  std::chrono::milliseconds took{0};
};

/// A value that is not known has no sample, and `zkadmin_complete` is 0 then.
std::string to_metrics(const refreshed& last, const wanted_kinds& kinds, const problem_limits& limits);

/// Before the first read: nothing is known.
std::string metrics_of_nothing();

}  // namespace zkadmin
