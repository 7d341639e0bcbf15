// Makes the core of a session: checks the options, makes its world, and returns the pointer that closes it.
#pragma once

#include <functional>

#include "session/core.hpp"

namespace zkrecipes::detail {

using world_factory = std::function<std::unique_ptr<backend::world>(asio::any_io_executor strand)>;

/// \throws std::invalid_argument naming the executor, as that of `whose`, if it is empty.
scheduler_ptr make_scheduler(const char* whose, const asio::any_io_executor& executor, const world_factory& world);

/// When the last copy of the pointer is destroyed, the session is closed in the background.
/// \throws std::invalid_argument
core_ptr make_core(const asio::any_io_executor& executor, session_options options, const world_factory& world);

/// The core of the session that a recipe is made on. \throws std::invalid_argument if the session was moved from.
const core_ptr& require_session(const session& over);

/// \throws std::invalid_argument naming the field.
void check(const session_options& options);

}  // namespace zkrecipes::detail
