#pragma once

#include <string>

namespace testcluster::command {

/// A broker that takes orders.
class ordered_broker {
 public:
  virtual ~ordered_broker() = default;

  /// The line that answers: the state, or what was asked for. Throws testcluster::error if it can not be done or there
  /// is no such order, std::invalid_argument if the order names something that is not there.
  virtual std::string carry_out(const std::string& order) = 0;

  /// In one line: addresses, and which processes run.
  virtual std::string state() = 0;
};

}  // namespace testcluster::command
