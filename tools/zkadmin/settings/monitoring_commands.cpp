#include "settings/command_options.hpp"

namespace zkadmin {

void add_monitoring_commands(CLI::App& app, invocation& asked) {
  auto& check = add_command(app, asked, command::check, "check",
                            "Print the problems once; exits with 0 ok, 1 warning, 2 critical, 3 unknown");
  add_format(check, asked);
  check
      .add_option(
          "--only", asked.only,
          "Check only these: servers, elections, groups, topics, commits, queues, recipes, or what is at and below a "
          "path")
      ->type_name("KIND|PATH");
  check.add_flag("--security", asked.security,
                 "Check who may do what instead: ACLs, and what the servers tell everybody");
  add_broker(check, asked);
  add_command(app, asked, command::exporter, "exporter", "Serve metrics for Prometheus over HTTP");
}

}  // namespace zkadmin
