// Making a session: checked options, the world it lives in, and the handle that closes it.
#pragma once

#include <functional>

#include "session/core.hpp"

namespace zkrecipes::detail {

using world_factory = std::function<std::unique_ptr<backend::world>(asio::any_io_executor strand)>;

/// The last copy of the pointer closes the session in the background. \throws std::invalid_argument
core_ptr make_core(const asio::any_io_executor& executor, session_options options, const world_factory& world);

/// What a recipe is made on. \throws std::invalid_argument if the session was moved from.
const core_ptr& require_session(const session& over);

/// \throws std::invalid_argument naming the field.
void check(const session_options& options);

}  // namespace zkrecipes::detail
