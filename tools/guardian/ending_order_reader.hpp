#pragma once

#include <optional>
#include <string_view>

#include "ending_order.hpp"

namespace guardian {

/// Puts an order together, line by line.
class ending_order_reader {
 public:
  /// The order, with its last line. \throws std::runtime_error if the line does not fit.
  std::optional<ending_order> hear(std::string_view line);

 private:
  session_of_the_dead told_;
};

}  // namespace guardian
