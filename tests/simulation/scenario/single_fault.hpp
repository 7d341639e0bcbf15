// Runs one operation with one fault at one of its steps.
#pragma once

#include "scenario/scripts.hpp"

namespace zkrecipes::simulation {

enum class step_fault {
  none,
  not_sent,         ///< The request does not arrive.
  reply_lost,       ///< The request is executed, but the connection breaks before the answer.
  session_expired,  ///< The leader ends the session before the request is executed.
  cancel_total,
  cancel_partial,
  cancel_terminal,
};

inline constexpr int step_faults = static_cast<int>(step_fault::cancel_terminal) + 1;

const char* to_string(step_fault kind) noexcept;

struct trial {
  const script* what = nullptr;
  bool in_company = false;  ///< Two other clients contend in the same line.
  step_fault kind = step_fault::none;
  int step = 0;    ///< The request at which the fault happens, counted from the beginning of the operation.
  int steps = 0;   ///< Result: the number of requests.
  error_code end;  ///< Result: the error with which the operation ended.
};

std::unique_ptr<scenario> make_single_fault(stage& in, trial& of);

}  // namespace zkrecipes::simulation
