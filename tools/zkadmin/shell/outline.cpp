#include "shell/outline.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/text.hpp"

namespace zkadmin {
namespace {

/// "table|json" lists the values; "KIND|PATH" does not.
std::vector<std::string> choices_of(const std::string& type) {
  const bool is_list = type.find('|') != type.npos &&
                       std::none_of(type.begin(), type.end(), [](unsigned char c) { return std::isupper(c) != 0; });
  return is_list ? CLI::detail::split(type, '|') : std::vector<std::string>();
}

outlined_option outline_of(const CLI::Option& option) {
  outlined_option outlined;
  for (const auto& each : option.get_snames()) outlined.names.push_back("-" + each);
  for (const auto& each : option.get_lnames()) outlined.names.push_back("--" + each);
  if (option.get_positional()) outlined.names = {option.get_name(true)};
  if (option.get_items_expected_max() > 0) outlined.value = option.get_type_name();
  outlined.choices = choices_of(outlined.value);
  outlined.help = option.get_description();
  outlined.required = option.get_required();
  outlined.repeated = option.get_items_expected_max() > 1;
  outlined.is_setting = option.get_group() == settings_group;
  return outlined;
}

}  // namespace

outlined_command outline_of(const CLI::App& app, const std::string& name) {
  outlined_command command{name, app.get_description()};
  for (const auto* each : app.get_options()) {
    auto& list = each->get_positional() ? command.arguments : command.options;
    list.push_back(outline_of(*each));
  }
  for (const auto* each : app.get_subcommands([](const CLI::App*) { return true; }))
    command.commands.push_back(outline_of(*each, name + (name.empty() ? "" : " ") + each->get_name()));
  return command;
}

std::vector<const outlined_command*> all_commands(const outlined_command& top) {
  std::vector<const outlined_command*> all{&top};
  for (const auto& each : top.commands) {
    const auto below = all_commands(each);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

std::string last_word(const outlined_command& of) { return of.name.substr(of.name.rfind(' ') + 1); }

namespace {

/// Text that roff takes as it is: no backslash, no dash that becomes a hyphen, no line that is a request.
std::string roff(const std::string& text) {
  std::string escaped;
  bool at_begin = true;
  for (const char c : text) {
    if (at_begin && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    at_begin = c == '\n';
  }
  return escaped;
}

std::string bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }

std::string names_of(const outlined_option& option) {
  std::string text;
  for (const auto& each : option.names) append_to_list(text, bold(each));
  return option.value.empty() ? text : text + " " + italic(option.value);
}

std::string described(const outlined_option& option) {
  return ".TP\n" + names_of(option) + "\n" + roff(option.help) + "\n";
}

std::string synopsis(const outlined_command& command) {
  std::string text = bold("zkadmin " + command.name);
  for (const auto& each : command.arguments) {
    const auto name = italic(each.names.front()) + (each.repeated ? "..." : "");
    text += each.required ? " " + name : " [" + name + "]";
  }
  return text + " [" + italic("option") + "]...\n";
}

/// Without the settings, which have a section of their own.
std::string section_of(const outlined_command& command) {
  std::string text = ".SS " + roff(command.name) + "\n" + synopsis(command) + ".PP\n" + roff(command.help) + ".\n";
  for (const auto& each : command.arguments) text += described(each);
  for (const auto& each : command.options)
    if (!each.is_setting) text += described(each);
  return text;
}

std::string settings_of(const outlined_command& program) {
  std::string text =
      ".SH SETTINGS\nEvery command takes these options. Without the dashes, and with underscores in place of those "
      "inside, they are the keys of the configuration file; in capitals behind ZKADMIN_ they are variables of the "
      "environment.\n";
  for (const auto& each : program.options)
    if (each.is_setting) text += described(each);
  return text;
}

}  // namespace

std::string to_man(const outlined_command& program, const std::string& version, const std::string& notes) {
  std::string text = ".TH ZKADMIN 1 \"\" \"zkadmin " + roff(version) + "\" \"User Commands\"\n";
  text += ".SH NAME\nzkadmin \\- administer ZooKeeper ensembles and the recipes on them\n.SH SYNOPSIS\n";
  text += bold("zkadmin") + " [" + italic("command") + "] [" + italic("argument") + "]... [" + italic("option") +
          "]...\n.SH DESCRIPTION\n" + roff(program.help) + "\n.SH OPTIONS\n";
  for (const auto& each : program.options)
    if (!each.is_setting) text += described(each);
  text += ".SH COMMANDS\n";
  for (const auto* each : all_commands(program))
    if (!each->name.empty() && each->commands.empty()) text += section_of(*each);
  return text + settings_of(program) + ".SH NOTES\n" + roff(notes) + "\n";
}

}  // namespace zkadmin
