// Which credentials can be given to a server.
#pragma once

#include <string_view>

#include <zkrecipes/session_options.hpp>

namespace zkrecipes::detail {

/// Why no session can have them; empty: it can. The text repeats neither the user nor the password.
std::string_view problem_with(const credentials& given);

}  // namespace zkrecipes::detail
