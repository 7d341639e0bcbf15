// Which one of several that want the same thing waits.
#pragma once

namespace zkrecipes {

/// One at a time waits for a key. What happens if another one comes.
enum class keep {
  first,   ///< The one that waits goes on waiting; the new one is declined.
  newest,  ///< The one that waits is declined, and the new one waits in its place.
};

}  // namespace zkrecipes
