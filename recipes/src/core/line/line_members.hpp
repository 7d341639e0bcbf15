// The members of a line, seen from outside: listing them, asking the first to give it up, letting others pass.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/ownership.hpp>

#include "line/line_spec.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// The members of a line, in order. A parent that is missing has none.
awaitable<outcome<std::vector<member>>> list_members(core_ptr session, line_spec line);

/// Makes the member's node say that it lets others pass (`with_shared`), whatever else it says meanwhile.
/// `data`: what it says now, if it is known.
awaitable<outcome<>> let_pass(core_ptr session, std::string node, std::optional<std::string> data,
                              incarnation_ptr bound = nullptr);

/// All members, in order; whoever `who_first` lets go holds. A parent that is missing has none.
awaitable<outcome<std::vector<line_member>>> read_line(core_ptr session, line_spec line, blocker who_first);

/// Asks the first in line. Errors: `no_node` (there is none), `bad_version`, `no_auth`, `bad_arguments` (a negative
/// grace).
awaitable<outcome<>> request_revocation(core_ptr session, line_spec line, std::chrono::milliseconds grace);

}  // namespace zkrecipes::detail
