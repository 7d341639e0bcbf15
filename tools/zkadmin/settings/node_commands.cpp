#include <limits>

#include "settings/command_options.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

constexpr auto most_changes = std::numeric_limits<std::int32_t>::max();

node_format node_format_named(const std::string& name) {
  if (name == "table") return node_format::table;
  if (name == "json") return node_format::json;
  if (name == "ndjson") return node_format::ndjson;
  if (name == "tsv") return node_format::tsv;
  throw CLI::ValidationError("--output", "expected table, json, ndjson or tsv, found \"" + printable(name) + "\"");
}

CLI::App& add_node_command(CLI::App& app, invocation& asked, command which, const char* name, const char* help) {
  auto& added = add_command(app, asked, which, name, help);
  added.add_option("path", asked.node.path, "Path of the node")->required();
  return added;
}

CLI::App& add_reading(CLI::App& app, invocation& asked, command which, const char* name, const char* help) {
  auto& added = add_node_command(app, asked, which, name, help);
  const auto keep_format = [&asked](const std::string& format) { asked.node.format = node_format_named(format); };
  added.add_option_function<std::string>("-o,--output", keep_format, "table, json, ndjson or tsv (default table)")
      ->type_name("table|json|ndjson|tsv");
  return added;
}

void add_form(CLI::App& get, invocation& asked) {
  const auto form = [&asked](data_form wanted) { return [&asked, wanted](std::int64_t) { asked.node.form = wanted; }; };
  auto* hex = get.add_flag_function("--hex", form(data_form::hex), "Print the data as a hex dump");
  get.add_flag_function("--base64", form(data_form::base64), "Print the data as base64")->excludes(hex);
}

void add_reading_commands(CLI::App& app, invocation& asked) {
  auto& node = asked.node;
  auto& ls = add_reading(app, asked, command::ls, "ls", "List the children of a node");
  ls.add_flag("-R,--recursive", node.recursive, "List all nodes below it, by their paths");
  ls.add_flag("-l,--long", node.is_long, "With data length, kind, owner and recipe of each");
  add_form(add_reading(app, asked, command::get, "get", "Print the data of a node"), asked);
  add_reading(app, asked, command::stat, "stat", "Print what ZooKeeper knows of a node besides its data");
  auto& tree = add_reading(app, asked, command::tree, "tree", "Print a node and what is below it");
  tree.add_option("--depth", node.depth, "So many levels below the node (default: all)")->type_name("NUMBER");
  auto& watch = add_reading(app, asked, command::watch, "watch", "Print a line for each change of a node");
  watch.add_option("--count", node.count, "End after so many changes (default: at SIGINT)")
      ->type_name("NUMBER")
      ->check(CLI::Range(1, most_changes).description(""));
}

CLI::App& add_changing(CLI::App& app, invocation& asked, command which, const char* name, const char* help) {
  auto& node = asked.node;
  auto& added = add_node_command(app, asked, which, name, help);
  added.add_option("--version", node.version, "Only if the data has this version (default: the version read)")
      ->type_name("NUMBER")
      ->check(CLI::Range(0, most_changes).description(""));
  added.add_flag("--force", node.force, "Also what a recipe keeps");
  added.add_flag("--rw", node.read_write, "Do it; without this the requests are only shown");
  return added;
}

}  // namespace

void add_node_commands(CLI::App& app, invocation& asked) {
  auto& node = asked.node;
  add_reading_commands(app, asked);
  auto& set = add_changing(app, asked, command::set, "set",
                           "Write the data of a node, from standard input unless --data or --file has it");
  auto* text = set.add_option("--data", node.data, "Write this text")->type_name("TEXT");
  set.add_option("--file", node.file, "Write what is in this file")->type_name("FILE")->excludes(text);
  auto& remove = add_changing(app, asked, command::remove, "delete", "Delete a node");
  remove.add_flag("-R,--recursive", node.recursive, "With all nodes below it");
  remove.add_option("--yes", node.yes, "The path once more, in place of the question that --recursive asks")
      ->type_name("PATH");
}

}  // namespace zkadmin
