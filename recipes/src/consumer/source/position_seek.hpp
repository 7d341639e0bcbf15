// How a group is moved to another place of a log.
#pragma once

#include <string>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Writes a position whatever its version, so that the next commit of a consumer is refused. `text` has the GUID `seek`
/// in its field of that name: it tells after a lost reply whether the position was written, because a second write
/// would move the consumer back once more. Errors: those of `core::perform`.
awaitable<error_code> write_position(core_ptr session, std::string path, std::string text, std::string seek);

}  // namespace zkrecipes::detail
