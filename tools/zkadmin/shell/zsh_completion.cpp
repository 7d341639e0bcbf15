#include <algorithm>

#include "shell/outline.hpp"

namespace zkadmin {
namespace {

/// Text inside single quotes, where `_arguments` and `_describe` give brackets and colons a meaning.
std::string zsh_text(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\'') {
      escaped += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_action(const outlined_option& option) {
  if (option.value == "FILE") return "_files";
  std::string words;
  for (const auto& each : option.choices) words += (words.empty() ? "" : " ") + each;
  return words.empty() ? "" : "(" + words + ")";
}

/// '(-o --output)-o+[...]:table|json:(table json)', one for each name.
std::string option_specs(const outlined_option& option) {
  std::string all, text;
  for (const auto& each : option.names) all += (all.empty() ? "" : " ") + each;
  for (const auto& each : option.names) {
    const bool is_long = each.starts_with("--");
    const std::string joint = option.value.empty() ? "" : is_long ? "=" : "+";
    text += "    '(" + all + ")" + each + joint + "[" + zsh_text(option.help) + "]";
    if (!option.value.empty()) text += ":" + zsh_text(option.value) + ":" + zsh_action(option);
    text += "' \\\n";
  }
  return text;
}

std::string function_name(const outlined_command& command) {
  auto name = "_zkadmin" + (command.name.empty() ? "" : "_" + command.name);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

std::string specs_of(const outlined_command& command) {
  std::string text;
  for (const auto& each : command.options) text += option_specs(each);
  for (const auto& each : command.arguments) {
    const std::string position = each.repeated ? "*" : each.required ? "" : ":";
    text += "    '" + position + ":" + zsh_text(each.names.front()) + ":" + zsh_action(each) + "' \\\n";
  }
  return text;
}

std::string function_of(const outlined_command& command) {
  std::string text = function_name(command) + "() {\n";
  if (command.commands.empty()) return text + "  _arguments -s \\\n" + specs_of(command) + "    && return 0\n}\n\n";
  text += "  local curcontext=\"$curcontext\" state line\n  local -a commands\n  commands=(\n";
  for (const auto& each : command.commands) text += "    '" + last_word(each) + ":" + zsh_text(each.help) + "'\n";
  text += "  )\n  _arguments -s -C \\\n" + specs_of(command) +
          "    '1:command:->command' '*::argument:->argument' && return 0\n";
  text += "  case $state in\n    command) _describe command commands ;;\n    argument)\n      case $words[1] in\n";
  for (const auto& each : command.commands) text += "        " + last_word(each) + ") " + function_name(each) + " ;;\n";
  return text + "      esac ;;\n  esac\n}\n\n";
}

}  // namespace

std::string to_zsh(const outlined_command& program) {
  std::string text = "#compdef zkadmin\n# zsh completion for zkadmin, made by `zkadmin completion zsh`\n\n";
  for (const auto* each : all_commands(program)) text += function_of(*each);
  return text + "_zkadmin \"$@\"\n";
}

}  // namespace zkadmin
