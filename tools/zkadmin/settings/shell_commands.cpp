#include "settings/command_options.hpp"

namespace zkadmin {

// These need no cluster, so they have no settings.
void add_shell_commands(CLI::App& app, invocation& asked) {
  auto& completion = *app.add_subcommand("completion", "Print the completions for a shell");
  completion.add_option("shell", asked.shell, "The shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}).description(""))
      ->type_name("bash|zsh|fish");
  completion.callback([&asked] { asked.command = command::completion; });
  app.add_subcommand("man", "Print the manual page")->callback([&asked] { asked.command = command::man; });
}

}  // namespace zkadmin
