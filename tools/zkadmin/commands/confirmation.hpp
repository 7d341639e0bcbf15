// Asks the user to confirm what does damage.
#pragma once

#include <optional>
#include <string>

#include "commands/commands.hpp"

namespace zkadmin {

/// Returns if `yes`, the value of --yes, is the path; without --yes if the user types the path at the terminal. Else
/// throws `failure`. `deed`: what will be done, such as "delete 3 nodes". Returns whether the path was typed, which may
/// have taken long.
bool require_path(surroundings& around, const std::string& path, const std::optional<std::string>& yes,
                  const std::string& deed);

}  // namespace zkadmin
