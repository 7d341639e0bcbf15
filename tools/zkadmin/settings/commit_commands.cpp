#include "settings/command_options.hpp"

namespace zkadmin {

void add_commit_commands(CLI::App& app, invocation& asked) {
  auto& commit = *app.add_subcommand("commit", "The transactions of a two-phase commit");
  auto& decide = add_command(commit, asked, command::decide, "decide",
                             "Decide a transaction that nobody else decides, by the rule of its coordinator");
  add_change(decide, asked, "Path of the two-phase commit");
  decide.add_option("transaction", asked.transaction, "Its id, as `zkadmin check` shows it")->required();
  commit.require_subcommand(1);
}

}  // namespace zkadmin
