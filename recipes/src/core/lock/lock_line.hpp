// The line of a lock.
#pragma once

#include <string>

#include <zkrecipes/lock.hpp>

#include "line/line_spec.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

line_spec lock_line(std::string path);

awaitable<outcome<ownership>> acquire_lock(core_ptr session, std::string path, line_options options);
/// Lists the line first, so that a lock which is held costs no write.
awaitable<outcome<ownership>> try_acquire_lock(core_ptr session, std::string path, line_options options);

}  // namespace zkrecipes::detail
