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

}  // namespace

void add_election_commands(CLI::App& app, invocation& asked) {
  add_change(add_command(app, asked, command::resign, "resign", "Ask the leader of an election to give up"), asked,
             "Path of the election, as `zkadmin status` shows it");
  add_expire_command(app, asked);
}

}  // namespace zkadmin
