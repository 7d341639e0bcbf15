// Waits for what the user types.
#pragma once

namespace zkadmin {

/// A descriptor that is readable when the input is. Asio does not wait on the input itself, because it would make the
/// input non-blocking for all processes that share the terminal, such as the shell. Throws std::system_error.
int watch_for_input(int descriptor);

/// An input has ended if it is readable although no bytes are available.
bool has_ended(int descriptor);

}  // namespace zkadmin
