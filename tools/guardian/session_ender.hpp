// The end of one session of a dead process, as a function, so that tests can have another one.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <sys/types.h>

#include <zkrecipes/lease_clock.hpp>

#include "backend/guardian/guardian_message.hpp"

namespace guardian {

/// A session whose process is dead, and the terms that it led in it.
struct session_of_the_dead {
  zkrecipes::backend::guarded_session session;
  std::vector<zkrecipes::backend::guarded_term> terms;
  uid_t user = 0;
};

struct ending {
  std::string problem{};        ///< Empty if there was none.
  std::size_t died = 0;         ///< Records that say so now.
  std::size_t passed_over = 0;  ///< Records that name somebody else, or an end.
  bool is_closed = false;
};

/// Writes `died` into the records and closes the session. `done` is called once, later, on the guardian's thread.
using session_ender = std::function<void(session_of_the_dead, zkrecipes::lease_clock::time_point deadline,
                                         std::function<void(const ending&)> done)>;

}  // namespace guardian
