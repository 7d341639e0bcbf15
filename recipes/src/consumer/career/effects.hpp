// Finds out by the nodes concerned whether a transaction whose reply was lost was executed.
#pragma once

#include <zkrecipes/transaction.hpp>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

enum class effects {
  all,   ///< All nodes look as if it was done: it was, or it makes no difference.
  none,  ///< All nodes look as if it was not done: it was not.
  some,  ///< It can not be told: another client changes these nodes, too, or none can be judged.
};

/// Looks at the operations that can not succeed twice: removals, creates, and sets from a known version. Sequential
/// creates tell nothing. One round trip.
awaitable<outcome<effects>> check_effects(core_ptr session, transaction of);

}  // namespace zkrecipes::detail
