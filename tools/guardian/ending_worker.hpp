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

/// The inside of an ending process: carries out the orders that come over its standard input, a Unix stream socket, all
/// at the same time, and answers over it. Returns the exit status, once the input has ended and every order is carried
/// out: a guardian that is killed does not break off what has begun.
int run_ending_worker();

}  // namespace guardian
