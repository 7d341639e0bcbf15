#include "settings/command_line.hpp"

#include <algorithm>
#include <array>
#include <ostream>
#include <vector>

#include <CLI/CLI.hpp>

#include "failure.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

constexpr const char* footer =
    "Every setting but the secret one may also stand in a TOML file (--config, else $ZKADMIN_CONFIG, else\n"
    "$XDG_CONFIG_HOME/zkadmin/config.toml, else ~/.config/zkadmin/config.toml) or in the environment "
    "(ZKADMIN_HOSTS,\n"
    "ZKADMIN_ROOT, ...). The command line wins over the environment, and that over the file.\n"
    "Credentials: ZKADMIN_DIGEST=user:password, or a file named by --digest-file.\n"
    "Exit codes: 0 ok, 1 error, 2 usage, 3 none of the servers answers, 5 credentials refused or not "
    "sufficient.";

output_format format_named(const std::string& name) {
  if (name == "table") return output_format::table;
  if (name == "json") return output_format::json;
  if (name == "tsv") return output_format::tsv;
  throw CLI::ValidationError("--output", "expected table, json or tsv, found \"" + printable(name) + "\"");
}

void add_setting(CLI::App& app, const setting& which, raw_settings& given) {
  const std::string option = "--" + option_name(which);
  const std::string key(which.key);
  const std::string help(which.help);
  if (which.type == value_type::flag) {
    const auto store = [&given, key, option](const bool& on) { given[key] = {on ? "true" : "false", option}; };
    app.add_flag_function(
        option + ",!--no-" + option_name(which), [store](std::int64_t n) { store(n > 0); }, help);
  } else {
    const auto store = [&given, key, option](const std::string& text) { given[key] = {text, option}; };
    app.add_option_function<std::string>(option, store, help)
        ->type_name(which.type == value_type::duration ? "DURATION" : "TEXT");
  }
}

// Adds the common options to each command separately, so that the help of each command is complete.
void add_common(CLI::App& app, invocation& asked) {
  app.add_option("--config", asked.config, "Configuration file (TOML)")->type_name("FILE");
  for (const auto& each : all_settings())
    if (!each.is_secret) add_setting(app, each, asked.given);
}

void add_commands(CLI::App& app, invocation& asked) {
  auto* dashboard = app.add_subcommand("dashboard", "A live screen of the ensemble and its elections (the default)");
  auto* status = app.add_subcommand("status", "Print the ensemble and its elections once");
  auto* resign = app.add_subcommand("resign", "Ask the leader of an election to give up the leadership");
  for (auto* each : {&app, dashboard, status, resign}) add_common(*each, asked);

  const auto keep_format = [&asked](const std::string& name) { asked.output = format_named(name); };
  status->add_option_function<std::string>("-o,--output", keep_format, "table, json or tsv (default table)")
      ->type_name("FORMAT");
  resign->add_option("path", asked.path, "Path of the election, as `zkadmin status` shows it")->required();
  resign->add_flag("--rw", asked.read_write, "Do it; without this the requests are only shown");

  dashboard->callback([&asked] { asked.command = command::dashboard; });
  status->callback([&asked] { asked.command = command::status; });
  resign->callback([&asked] { asked.command = command::resign; });
  app.require_subcommand(0, 1);
}

}  // namespace

std::optional<invocation> parse_command_line(std::span<const char* const> arguments, std::ostream& out) {
  invocation asked;
  CLI::App app("Shows a ZooKeeper ensemble and the elections on it: who leads, who waits, what is being handed over.",
               "zkadmin");
  app.set_version_flag("--version", "zkadmin " ZKADMIN_VERSION);
  app.footer(footer);
  add_commands(app, asked);
  // CLI11 takes the arguments in reverse order.
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::Success& help) {
    app.exit(help, out, out);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    throw failure(exit_code::usage, std::string(error.what()) + " (see zkadmin --help)");
  }
  return asked;
}

settings load_settings(const invocation& asked, const environment& variables) {
  const std::array layers{read_config_file(asked.config, variables), read_environment(variables), asked.given};
  return resolve_settings(layers);
}

}  // namespace zkadmin
