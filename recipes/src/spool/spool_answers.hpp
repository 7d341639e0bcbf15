// Answers to puts, which are given together.
#pragma once

#include <deque>

#include "spool/spool_put.hpp"

namespace zkrecipes::detail {

/// Calls handlers on their executors. An exception of one of them does not concern the others.
class spool_answers {
 public:
  void add(spool_put& whose, error_code error, std::uint64_t number);
  /// Gives those that were added since the last call. `base` runs the calls.
  void send(const asio::any_io_executor& base);

 private:
  struct answer {
    topic_caller whose;
    error_code error;
    std::uint64_t number;
  };
  static void tell(const asio::any_io_executor& base, std::deque<answer> all);

  std::deque<answer> all_;
};

}  // namespace zkrecipes::detail
