// Which one of several that want the same thing waits.
#pragma once

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// The one of two callers that goes on waiting, if one waits for a key and another one comes. The other is declined.
enum class keep {
  first,   ///< The one that waits already: for requests that carry no data, such as "refresh key X".
  newest,  ///< The one that comes: for requests that carry data, of which the newest counts.
};

}  // namespace zkrecipes
