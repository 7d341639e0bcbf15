// What every recipe on a line offers: waiting for the ownership, seeing who has it, asking for it.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/ownership.hpp>

#include "line/line_spec.hpp"
#include "line/own_node.hpp"

namespace zkrecipes::detail {

/// Gets in line and waits for the turn; leaves again if that fails. `on_position` may be empty: see
/// `waiter::tell_position`.
awaitable<outcome<ownership>> own_turn(core_ptr session, line_spec line, std::string data, blocker who_first,
                                       std::function<void(std::size_t)> on_position);

/// Gets in line and looks once; leaves again if that fails. With `bound` only a node that was created in that
/// incarnation counts. Errors besides those of `own_turn`: `busy` (somebody has to go first), `session_expired`
/// (another incarnation).
awaitable<outcome<ownership>> try_own_turn(core_ptr session, line_spec line, std::string data, blocker who_first,
                                           incarnation_ptr bound = nullptr);

/// Lists the line first, so that one in which somebody stands costs no write (`busy`). Then as `try_own_turn`, behind
/// nobody.
awaitable<outcome<ownership>> own_if_free(core_ptr session, line_spec line, std::string data);

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
