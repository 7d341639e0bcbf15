// Prints dead letters.
#pragma once

#include <chrono>
#include <string>

#include "cluster/letters.hpp"
#include "settings/command_line.hpp"

namespace zkadmin {

/// A row for each letter, with the first bytes of its data. `now`: by this machine's clock.
std::string formatted_letters(const letter_list& letters, output_format format,
                              std::chrono::system_clock::time_point now);

}  // namespace zkadmin
