// Whether a transaction whose reply was lost has happened, by what there is to be seen of it.
#pragma once

#include <zkrecipes/transaction.hpp>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

enum class effects {
  all,   ///< Everything looks as it would: done, or it makes no difference.
  none,  ///< Nothing does: not done.
  some,  ///< Somebody else has a hand in it: it can not be told.
};

/// Looks at what can not happen twice: what was to be removed, created, or set from a known version. Nodes with numbers
/// drawn by the server tell nothing. One round trip.
awaitable<outcome<effects>> see_effects(core_ptr session, transaction of);

}  // namespace zkrecipes::detail
