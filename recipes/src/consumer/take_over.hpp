// From first in line to leader of a new term.
#pragma once

#include <functional>

#include "consumer/term_state.hpp"

namespace zkrecipes::detail {

struct take_over_request {
  place_ptr where;  ///< First in line.
  std::string path;
  std::string id;
  std::chrono::milliseconds hand_over_deadline{0};
  std::function<bool()> give_up;  ///< Asked after every wake-up of `where->changed()`.
};

/// Begins the next term with a write that fences the term before. A predecessor that has not retired is waited for,
/// until it confirms or its hand-over deadline has passed on our clock since we became first.
/// Errors: `operation_aborted` (gave up), why the place was lost, `foreign_data`, `no_auth`.
awaitable<outcome<term_ptr>> take_over(take_over_request what);

}  // namespace zkrecipes::detail
