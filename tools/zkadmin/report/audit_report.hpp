// Prints the audit log.
#pragma once

#include <span>
#include <string>

#include "change/audit.hpp"
#include "settings/command_line.hpp"

namespace zkadmin {

std::string formatted_audit(std::span<const audit_entry> entries, output_format format, bool complete = true);

}  // namespace zkadmin
