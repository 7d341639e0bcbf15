// Whether a message comes for the first time.
#pragma once

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// What a caller of a `shared_gate` knows about its message.
enum class arrival {
  first,        ///< Nobody was given this message before: another one of its key may cover it.
  redelivered,  ///< It was, or may have been, given to somebody before: it is processed in any case.
};

}  // namespace zkrecipes
