// Which credentials can be given to a server.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <zkrecipes/session_options.hpp>

namespace zkrecipes::detail {

/// Why no session can have them; empty: it can. The text repeats neither the user nor the password.
std::string_view problem_with(const credentials& given);

/// The most of users and secrets that a session may have. The socket of a new connection takes at least 69 KiB at once
/// (measured: Linux 6.18, segments of 536 bytes), so all are sent with the connection's first segments.
inline constexpr std::size_t most_credential_bytes = 64 << 10;

/// The bytes of the users and secrets.
std::size_t bytes_of(const std::vector<credentials>& all);

}  // namespace zkrecipes::detail
