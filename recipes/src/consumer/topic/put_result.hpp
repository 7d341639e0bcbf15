// The result of a put, and how its caller gets it.
#pragma once

#include <cstdint>
#include <deque>

#include "topic/topic_caller.hpp"

namespace zkrecipes::detail {

struct put_result {
  topic_caller whose;
  error_code error;
  std::uint64_t number;
};

/// Calls the handlers on their executors. An exception of one of them does not concern the others.
void complete_results(asio::any_io_executor base, std::deque<put_result> results);

}  // namespace zkrecipes::detail
