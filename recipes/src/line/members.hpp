// Looking at a line from outside, and asking its owner to give it up.
#pragma once

#include <vector>

#include <zkrecipes/line_member.hpp>

#include "line/place.hpp"

namespace zkrecipes::detail {

/// All members, in order; whoever `who_first` lets go holds. A parent that is missing has none.
awaitable<outcome<std::vector<line_member>>> read_line(core_ptr session, line_spec line, blocker who_first);

/// Asks the first in line. Errors: `no_node` (there is none), `bad_version`, `no_auth`.
awaitable<outcome<>> request_revocation(core_ptr session, line_spec line, std::chrono::milliseconds grace);

}  // namespace zkrecipes::detail
