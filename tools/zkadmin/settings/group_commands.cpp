#include "settings/command_options.hpp"

namespace zkadmin {

void add_group_commands(CLI::App& app, invocation& asked) {
  constexpr const char* path_help = "Path of the group, as `zkadmin groups` shows it";
  auto& groups = add_command(app, asked, command::groups, "groups", "Print the shard groups, or one of them, once");
  add_format(groups, asked);
  groups.add_option("path", asked.path, "Path of a group, to see its members and moves");

  auto& group = *app.add_subcommand("group", "Change a shard group");
  auto& freeze = add_command(group, asked, command::freeze, "freeze", "Stop taking shards from members");
  auto& thaw = add_command(group, asked, command::thaw, "thaw", "End a freeze");
  auto& release = add_command(group, asked, command::release, "release", "Take a shard out of quarantine");
  for (auto* each : {&freeze, &thaw, &release}) add_change(*each, asked, path_help);
  release.add_option("shard", asked.shard, "Number of the shard")->required();
  group.require_subcommand(1);
}

}  // namespace zkadmin
