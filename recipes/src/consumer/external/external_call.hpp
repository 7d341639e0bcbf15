// One call of a function of the user's source.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/consumer/external_source.hpp>

#include "career/task.hpp"

namespace zkrecipes::detail {

/// What a call has completed with. Written on the strand of the user's calls, and read when the call is done.
struct external_answer {
  error_code error{};
  std::vector<external_message> messages{};
  std::vector<std::string> forgotten{};
};

/// At most one call of a kind. On the session's strand.
struct external_call {
  std::shared_ptr<external_answer> answer{};
  task_ptr run{};

  bool is_there() const noexcept { return run != nullptr; }
  bool is_done() const noexcept { return run && run->done; }
  bool is_running() const noexcept { return run && !run->done; }
};

}  // namespace zkrecipes::detail
