#include "settings/command_line.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <ostream>
#include <string_view>
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
    "sufficient.\n"
    "Those of `check`: 0 ok, 1 warning, 2 critical, 3 unknown.";

constexpr std::string_view command_names[] = {"dashboard", "status", "resign", "expire",  "groups",
                                              "group",     "topics", "check",  "exporter"};

output_format format_named(const std::string& name) {
  if (name == "table") return output_format::table;
  if (name == "json") return output_format::json;
  if (name == "tsv") return output_format::tsv;
  throw CLI::ValidationError("--output", "expected table, json or tsv, found \"" + printable(name) + "\"");
}

const char* type_name_of(value_type type) {
  if (type == value_type::duration) return "DURATION";
  return type == value_type::count ? "NUMBER" : "TEXT";
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
    app.add_option_function<std::string>(option, store, help)->type_name(type_name_of(which.type));
  }
}

// Adds the common options to each command separately, so that the help of each command is complete.
void add_common(CLI::App& app, invocation& asked) {
  app.add_option("--config", asked.config, "Configuration file (TOML)")->type_name("FILE");
  for (const auto& each : all_settings())
    if (!each.is_secret) add_setting(app, each, asked.given);
}

CLI::App& add_command(CLI::App& app, invocation& asked, command which, const char* name, const char* help) {
  auto& added = *app.add_subcommand(name, help);
  add_common(added, asked);
  added.callback([&asked, which] { asked.command = which; });
  return added;
}

void add_format(CLI::App& app, invocation& asked) {
  const auto keep_format = [&asked](const std::string& name) { asked.output = format_named(name); };
  app.add_option_function<std::string>("-o,--output", keep_format, "table, json or tsv (default table)")
      ->type_name("FORMAT");
}

// A command that changes something at a path.
void add_change(CLI::App& app, invocation& asked, const char* path_help) {
  app.add_option("path", asked.path, path_help)->required();
  app.add_flag("--rw", asked.read_write, "Do it; without this the requests are only shown");
}

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

void add_expire_command(CLI::App& app, invocation& asked) {
  auto& expire = add_command(app, asked, command::expire, "expire",
                             "End the session of a process that is dead or fenced for certain, as a guardian does");
  expire.add_option("session", asked.session, "Id of the session, in hex")->required();
  expire.add_option("--because", asked.because, "Why it is certain that the process can not act any more")
      ->required()
      ->type_name("TEXT");
  expire.add_flag("--rw", asked.read_write, "Do it; without this it is only shown what would be done");
}

void add_topic_command(CLI::App& app, invocation& asked) {
  auto& topics = add_command(app, asked, command::topics, "topics", "Print the topics, or one of them, once");
  add_format(topics, asked);
  topics.add_option("path", asked.path, "Path of a topic, to see its groups and shards");
}

void add_monitoring_commands(CLI::App& app, invocation& asked) {
  auto& check = add_command(app, asked, command::check, "check",
                            "Print the problems once; exits with 0 ok, 1 warning, 2 critical, 3 unknown");
  add_format(check, asked);
  check
      .add_option(
          "--only", asked.only,
          "Check only these: servers, elections, groups, topics, commits, queues, or what is at and below a path")
      ->type_name("KIND|PATH");
  add_command(app, asked, command::exporter, "exporter", "Serve metrics for Prometheus over HTTP");
}

void add_commands(CLI::App& app, invocation& asked) {
  add_common(app, asked);
  add_command(app, asked, command::dashboard, "dashboard",
              "A live screen of the ensemble and its elections (the default)");
  add_format(add_command(app, asked, command::status, "status", "Print the ensemble and its elections once"), asked);
  add_change(add_command(app, asked, command::resign, "resign", "Ask the leader of an election to give up"), asked,
             "Path of the election, as `zkadmin status` shows it");
  add_expire_command(app, asked);
  add_group_commands(app, asked);
  add_topic_command(app, asked);
  add_monitoring_commands(app, asked);
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

bool is_for_check(std::span<const char* const> arguments) {
  const auto is_command = [](std::string_view word) {
    return std::find(std::begin(command_names), std::end(command_names), word) != std::end(command_names);
  };
  const auto first = std::find_if(arguments.begin(), arguments.end(), is_command);
  return first != arguments.end() && std::string_view(*first) == "check";
}

settings load_settings(const invocation& asked, const environment& variables) {
  const std::array layers{read_config_file(asked.config, variables), read_environment(variables), asked.given};
  return resolve_settings(layers);
}

}  // namespace zkadmin
