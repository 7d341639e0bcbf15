// Asks holders to give up, and follows it until they have gone.
#pragma once

#include <string>

#include "commands/commands.hpp"
#include "settings/line_request.hpp"

namespace zkadmin {

/// Returns `ok` once the nodes of all holders that were to give up have gone. Throws `failure`.
exit_code follow_revocation(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                            const line_request& how);

}  // namespace zkadmin
