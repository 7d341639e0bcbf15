// A guardian of the session's own, where the machine has none: the program as a child of this process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <zkrecipes/error.hpp>

namespace zkrecipes::backend {

/// The program to start, if `session_options::guardian` names one ("child:/usr/bin/zkrecipes-guardian") and no socket.
std::optional<std::string> guardian_program(std::string_view guardian);

/// Starts the program, and returns our end of the stream socket to it, or why there is none. It is looked for in PATH if
/// its name has no slash. It inherits stderr, where its log goes, and no other descriptor. It has a session of its own
/// (`setsid`), so that signals of a terminal do not end it together with this process. Safe from every thread.
std::pair<error_code, int> start_guardian(const std::string& program);

}  // namespace zkrecipes::backend
