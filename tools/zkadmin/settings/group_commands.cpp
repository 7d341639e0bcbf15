#include "settings/command_options.hpp"

namespace zkadmin {
namespace {

void add_wait(CLI::App& to, invocation& asked, const char* help) {
  auto& how = asked.group.how;
  to.add_flag("--wait", how.wait, help);
  add_duration(to, "--for", how.limit, "With --wait: for how long, 100ms to 1h (default 1m)");
}

/// What the planner heeds as long as it is not taken back.
void add_wishes(CLI::App& group, invocation& asked, const char* path_help) {
  auto& drain = add_command(group, asked, command::drain, "drain", "Let a member give its shards to the others");
  auto& undrain = add_command(group, asked, command::undrain, "undrain", "Give the member shards again");
  for (auto* each : {&drain, &undrain}) {
    add_change(*each, asked, path_help);
    each->add_option("member", asked.group.member, "Id of the member")->required();
  }
  add_wait(drain, asked, "Wait until it has no shards");
  auto& transfer = add_command(group, asked, command::transfer, "transfer", "Pin a shard to a member, which gets it");
  auto& unpin = add_command(group, asked, command::unpin, "unpin", "End that");
  for (auto* each : {&transfer, &unpin}) {
    add_change(*each, asked, path_help);
    each->add_option("shard", asked.group.shard, "Number of the shard")->required();
  }
  transfer.add_option("member", asked.group.member, "Id of the member")->required();
  add_wait(transfer, asked, "Wait until the member owns it");
}

}  // namespace

void add_group_commands(CLI::App& app, invocation& asked) {
  constexpr const char* path_help = "Path of the group, as `zkadmin groups` shows it";
  auto& groups = add_command(app, asked, command::groups, "groups", "Print the shard groups, or one of them, once");
  add_format(groups, asked);
  groups.add_option("path", asked.path, "Path of a group, to see its members and moves");

  auto& group = *app.add_subcommand("group", "Change a shard group");
  auto& freeze = add_command(group, asked, command::freeze, "freeze", "Stop taking shards from members");
  auto& thaw = add_command(group, asked, command::thaw, "thaw", "End a freeze");
  auto& release = add_command(group, asked, command::release, "release", "Take a shard, or all, out of quarantine");
  for (auto* each : {&freeze, &thaw, &release}) add_change(*each, asked, path_help);
  auto& which = *release.add_option_group("which");
  which.add_option("shard", asked.shard, "Number of the shard");
  which.add_flag("--all", asked.all_shards, "All that are in quarantine, a hundred at a time");
  which.require_option(1);
  add_wishes(group, asked, path_help);
  group.require_subcommand(1);
}

}  // namespace zkadmin
