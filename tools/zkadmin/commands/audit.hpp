// Keeps the audit log of interventions.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "commands/commands.hpp"
#include "commands/contact.hpp"

namespace zkadmin {

/// Where an intervention will be logged, for the user: "audit file FILE", "audit node PATH", one a line. Empty if the
/// settings name no log.
std::string audit_plan(const settings& wanted);

/// Carries out an intervention by `act`, which returns what the user is told, or throws `failure`. All that changes a
/// cluster goes through this: that it begins is written into the logs first, and if that fails, nothing is sent
/// (`failure`). Then the logs are told how it ended; if that fails, the user is told so, and no more. `requests`: as
/// they were shown.
std::string audited(surroundings& around, const std::shared_ptr<contact>& with, const std::string& requests,
                    const std::function<std::string()>& act);

}  // namespace zkadmin
