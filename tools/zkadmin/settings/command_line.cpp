#include "settings/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/failure.hpp"
#include "settings/command_table.hpp"
#include "settings/settings.hpp"

namespace zkadmin {
namespace {

constexpr const char* footer =
    "Every setting but the secret one may also stand in a TOML file (--config, else $ZKADMIN_CONFIG, else\n"
    "$XDG_CONFIG_HOME/zkadmin/config.toml, else ~/.config/zkadmin/config.toml) or in the environment "
    "(ZKADMIN_HOSTS,\n"
    "ZKADMIN_ROOT, ...). The command line wins over the environment, and that over the file.\n"
    "Credentials: ZKADMIN_DIGEST=user:password, or a file named by --digest-file.\n"
    "Exit codes: 0 ok, 1 error, 2 usage, 3 none of the servers answers, 4 there is no such node,\n"
    "5 credentials refused or not sufficient.\n"
    "Those of `lock` and `lead`: that of the command, or 121 lost, 122 asked to give up, 123 taken, 124 not free in "
    "time,\n"
    "125 failed before the command, 126 and 127 it can not be executed, 128 + a signal.\n"
    "Those of `check`: 0 ok, 1 warning, 2 critical, 3 unknown.";

/// The command line's table: also help, man page and completions are made from it.
std::unique_ptr<CLI::App> make_app(invocation& asked) {
  auto app = std::make_unique<CLI::App>(
      "Shows a ZooKeeper ensemble and the elections on it: who leads, who waits, what is being handed over.",
      "zkadmin");
  app->set_version_flag("--version", "zkadmin " ZKADMIN_VERSION);
  app->footer(footer);
  add_commands(*app, asked);
  return app;
}

/// Whether the next argument is the value of this one.
bool takes_next(const CLI::App& app, const std::string& argument, std::string_view next) {
  if (!argument.starts_with('-') || next.starts_with('-')) return false;
  const auto* option = app.get_option_no_throw(argument);
  return option && option->get_items_expected_min() > 0;
}

/// The command that the arguments name, also if they can not be parsed; empty: none.
std::string named_command(std::span<const char* const> arguments) {
  invocation ignored;
  const auto app = make_app(ignored);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string word = arguments[i];
    const bool has_next = i + 1 < arguments.size();
    const auto named = [&word](const CLI::App* each) { return each->get_name() == word; };
    if (!app->get_subcommands(named).empty()) return word;
    if (has_next && takes_next(*app, word, arguments[i + 1])) ++i;
  }
  return {};
}

/// The setting for a secret that an argument names as if it were an option.
const setting* secret_named_by(std::string_view argument) {
  for (const auto& each : all_settings()) {
    const auto option = "--" + option_name(each);
    if (each.is_secret && (argument == option || argument.starts_with(option + "="))) return &each;
  }
  return nullptr;
}

/// The message does not repeat the arguments.
void refuse_secrets(std::span<const char* const> arguments) {
  for (const auto* each : arguments)
    if (const auto* secret = secret_named_by(each))
      throw failure(exit_code::usage, "--" + option_name(*secret) +
                                          ": a command line is public; use --digest-file FILE or " +
                                          variable_name(*secret) + ", and change the secret if it was real");
}

bool is_of_name(unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '/' || c == '.'; }

/// The name in an argument. The text behind it can be a secret, as in --digets=user:password and -puser:password.
std::string name_in(std::string_view argument) {
  const bool is_short = argument.starts_with('-') && !argument.starts_with("--");
  const auto longest = argument.substr(0, is_short ? 2 : argument.size());
  const auto end = std::find_if_not(longest.begin(), longest.end(), is_of_name);
  const std::string name(longest.begin(), end);
  return name.size() < argument.size() ? name + "..." : name;
}

/// "; did you mean status?", if a command has the same letters, or the same beginning.
std::string suggestion_for(const CLI::App& app, std::string_view word) {
  for (const auto* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string_view name = each->get_name();
    const bool begins_so = word.size() > 2 && (name.starts_with(word) || word.starts_with(name));
    if (begins_so || std::is_permutation(word.begin(), word.end(), name.begin(), name.end()))
      return "; did you mean " + each->get_name() + "?";
  }
  return {};
}

/// Names the first of the arguments that nothing takes. The others are not repeated, and neither is a word behind a
/// command that is no path: the words may be the credentials of an option whose name is mistyped.
std::string unexpected(const CLI::App& app) {
  const auto left = app.remaining(true);
  if (left.empty()) return "there is an argument that nothing takes";
  const auto& first = left.front();
  const bool is_shown = first.starts_with('-') || first.starts_with('/') || app.get_subcommands().empty();
  auto text =
      is_shown ? "unexpected argument: " + name_in(first) : std::string("unexpected argument behind the command");
  if (left.size() > 1) text += " (and " + std::to_string(left.size() - 1) + " more)";
  return app.get_subcommands().empty() ? text + suggestion_for(app, name_in(first)) : text;
}

}  // namespace

std::optional<invocation> parse_command_line(std::span<const char* const> arguments, std::ostream& out) {
  invocation asked;
  const auto app = make_app(asked);
  const auto name = named_command(arguments);
  const bool holds = name == "lock" || name == "lead";
  if (holds) arguments = without_words(arguments, asked.hold);
  refuse_secrets(arguments);
  // CLI11 takes the arguments in reverse order.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app->parse(reversed);
  } catch (const CLI::Success& help) {
    app->exit(help, out, out);
    return std::nullopt;
  } catch (const CLI::ExtrasError&) {
    throw failure(exit_code::usage, unexpected(*app) + " (see zkadmin --help)");
  } catch (const CLI::ParseError& error) {
    throw failure(exit_code::usage, std::string(error.what()) + " (see zkadmin --help)");
  }
  if (holds && asked.hold.words.empty())
    throw failure(exit_code::usage, "expected the command to run behind --: zkadmin " + name + " PATH -- CMD...");
  return asked;
}

outlined_command command_outline() {
  invocation ignored;
  return outline_of(*make_app(ignored));
}

std::string shell_text(const invocation& asked) {
  const auto program = command_outline();
  if (asked.command == command::man) return to_man(program, ZKADMIN_VERSION, footer);
  if (asked.shell == "zsh") return to_zsh(program);
  return asked.shell == "fish" ? to_fish(program) : to_bash(program);
}

bool is_for_check(std::span<const char* const> arguments) { return named_command(arguments) == "check"; }

settings load_settings(const invocation& asked, const environment& variables) {
  const auto file = read_config_file(asked.config, variables);
  return resolve_settings(in_precedence(file, read_environment(variables), asked.given));
}

}  // namespace zkadmin
