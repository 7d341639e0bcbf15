#include "guardian/dead_session.hpp"

#include <utility>

#include "guardian/session_ending.hpp"

namespace zkrecipes::detail {

awaitable<dead_session_result> end_dead_session(scheduler_ptr on, dead_session what, lease_clock::time_point deadline) {
  session_ending ending(std::move(on), std::move(what), deadline);
  co_return co_await ending.run();
}

}  // namespace zkrecipes::detail
