// Places that drop their waiters when the execution context is shut down.
#pragma once

#include <memory>

#include "session/scheduler.hpp"

namespace zkrecipes::detail {

/// A limit with waiters. A waiter can own the limit, by way of the coroutine that waits, and the limit owns the waiter.
/// The context breaks this cycle when it is shut down, and keeps the limit until then, for as long as somebody waits.
class waiting_place {
 public:
  virtual ~waiting_place() = default;
  /// Destroys all waiters without calling their handlers.
  virtual void drop() = 0;
};

void keep_until_shutdown(const scheduler& on, std::shared_ptr<waiting_place> which);
/// Returns what was kept: it has to be destroyed after a mutex in it has been unlocked.
std::shared_ptr<waiting_place> release(const scheduler& on, waiting_place* which);

}  // namespace zkrecipes::detail
