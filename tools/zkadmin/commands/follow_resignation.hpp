// Asks a leader to give up, and follows the hand-over to its end.
#pragma once

#include <string>

#include "commands/commands.hpp"

namespace zkadmin {

/// Returns `ok` once a successor executes. Throws `failure`.
exit_code follow_resignation(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                             const resignation_options& how);

}  // namespace zkadmin
