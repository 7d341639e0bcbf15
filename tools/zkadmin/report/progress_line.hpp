// One line for each step of what is followed to its end.
#pragma once

#include <chrono>
#include <string>

namespace zkadmin {

/// "   +12 ms  finishing     a -> b". `who` is printable.
std::string progress_line(std::chrono::milliseconds at, const std::string& state, const std::string& who);

}  // namespace zkadmin
