#include "shell/outline.hpp"
#include "text.hpp"

namespace zkadmin {
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
