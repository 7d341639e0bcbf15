#include "settings/command_options.hpp"

namespace zkadmin {

void add_overview_commands(CLI::App& app, invocation& asked) {
  add_command(app, asked, command::dashboard, "dashboard",
              "A live screen of the ensemble and its elections (the default)");
  add_format(add_command(app, asked, command::status, "status", "Print the ensemble and its elections once"), asked);
  auto& sessions = add_command(app, asked, command::sessions, "sessions",
                               "Print the sessions, or one of them with its ephemeral nodes, once");
  add_format(sessions, asked);
  sessions.add_option("session", asked.session, "Id of a session in hex, to see its nodes and their recipes");
}

}  // namespace zkadmin
