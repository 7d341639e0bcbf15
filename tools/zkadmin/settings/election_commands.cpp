#include "failure.hpp"
#include "settings/command_options.hpp"

namespace zkadmin {
namespace {

void add_expire_command(CLI::App& app, invocation& asked) {
  auto& expire = add_command(app, asked, command::expire, "expire",
                             "End the session of a process that is dead or fenced for certain, as a guardian does");
  expire.add_option("session", asked.session, "Id of the session, in hex")->required();
  expire.add_option("--because", asked.because, "Why it is certain that the process can not act any more")
      ->required()
      ->type_name("TEXT");
  expire.add_flag("--rw", asked.read_write, "Do it; without this it is only shown what would be done");
}

void add_resign_command(CLI::App& app, invocation& asked) {
  auto& resign = add_command(app, asked, command::resign, "resign", "Ask the leader of an election to give up");
  add_change(resign, asked, "Path of the election, as `zkadmin status` shows it");
  auto& how = asked.resignation;
  resign.add_flag("--wait", how.wait, "Follow the hand-over until a successor executes");
  add_duration(resign, "--for", how.limit, "With --wait: for how long, 100ms to 1h (default 1m)");
  resign.add_flag("--force", how.force, "With --wait: end the leader's place if it is still there after --grace");
  add_duration(resign, "--grace", how.grace, "With --force: how long the leader has to give up, 100ms to 1h");
  resign.add_option("--yes", how.confirmed, "With --force: the id of the leader, in place of typing it")
      ->type_name("ID");
  add_line_format(resign, how.as_lines);
}

void add_history_commands(CLI::App& app, invocation& asked) {
  auto& history = add_command(app, asked, command::history, "history", "Print the last terms of an election");
  add_format(history, asked);
  history.add_option("path", asked.path, "Path of the election, as `zkadmin status` shows it")->required();
  add_format(add_command(app, asked, command::audit, "audit", "Print the log of interventions"), asked);
}

}  // namespace

void add_election_commands(CLI::App& app, invocation& asked) {
  add_resign_command(app, asked);
  add_history_commands(app, asked);
  add_expire_command(app, asked);
}

void require_consistent(const resignation_options& how) {
  const auto refuse = [](const char* text) { throw failure(exit_code::usage, text); };
  const bool needs_wait = how.limit || how.grace || how.force || how.as_lines || !how.confirmed.empty();
  if (needs_wait && !how.wait) refuse("resign: --for, --force, --grace, --yes and -o need --wait");
  if (how.force != how.grace.has_value()) refuse("resign: --force and --grace need each other");
  if (!how.confirmed.empty() && !how.force) refuse("resign: --yes needs --force");
  if (how.grace && *how.grace >= how.limit.value_or(default_resignation_limit))
    refuse("resign: --grace has to be shorter than --for");
}

}  // namespace zkadmin
