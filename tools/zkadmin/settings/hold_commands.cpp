#include "settings/command_options.hpp"
#include "settings/hold_arguments.hpp"

namespace zkadmin {

void add_hold_commands(CLI::App& app, invocation& asked) {
  auto& lock =
      add_command(app, asked, command::lock, "lock", "Run a command while holding a lock: lock PATH -- CMD...");
  auto& lead = add_command(app, asked, command::lead, "lead", "Run a command while leading: lead PATH -- CMD...");
  for (auto* each : {&lock, &lead}) each->add_option("path", asked.path, "Path of it")->required();
  add_lock_options(lock, asked.hold);
  add_lead_options(lead, asked.hold);
}

}  // namespace zkadmin
