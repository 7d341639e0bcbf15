#include "shell/outline.hpp"

namespace zkadmin {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& each : words) text += (text.empty() ? "" : " ") + each;
  return text;
}

/// The line of the table for one command: which words may follow, and which options have a value.
std::string table_line(const outlined_command& command) {
  std::vector<std::string> commands, options, valued;
  for (const auto& each : command.commands) commands.push_back(last_word(each));
  for (const auto& each : command.options) {
    options.insert(options.end(), each.names.begin(), each.names.end());
    if (!each.value.empty()) valued.insert(valued.end(), each.names.begin(), each.names.end());
  }
  return "    '" + command.name + "') commands='" + joined(commands) + "' options='" + joined(options) + "' valued=' " +
         joined(valued) + " ' ;;\n";
}

/// The lines for the values of one command: "command|option".
std::string value_lines(const outlined_command& command) {
  std::string text;
  for (const auto& each : command.options)
    for (const auto& name : each.names) {
      const auto label = "    '" + command.name + "|" + name + "') ";
      if (!each.choices.empty()) text += label + "values='" + joined(each.choices) + "' ;;\n";
      if (each.value == "FILE") text += label + "files=1 ;;\n";
    }
  for (const auto& each : command.arguments)
    if (!each.choices.empty()) text += "    '" + command.name + "|') values='" + joined(each.choices) + "' ;;\n";
  return text;
}

constexpr const char* completion = R"sh(
_zkadmin() {
  local current="${COMP_WORDS[COMP_CWORD]}" command='' option='' word i
  local commands options valued values files
  COMPREPLY=()
  _zkadmin_table ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    if [[ $word == '=' ]]; then
      continue  # bash takes --option=value for three words
    elif [[ -n $option && ${COMP_WORDS[i + 1]} != '=' ]]; then
      option=''
    elif [[ $valued == *" $word "* ]]; then
      option="$word"
    elif [[ " $commands " == *" $word "* ]]; then
      command="${command:+$command }$word"
      _zkadmin_table "$command"
    fi
  done
  [[ $current == '=' ]] && current=''
  _zkadmin_values "$command|$option"
  if [[ -n $files ]]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  elif [[ -n $option ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$commands $values" -- "$current")
  fi
}

complete -F _zkadmin zkadmin
)sh";

}  // namespace

std::string to_bash(const outlined_command& program) {
  std::string table, values;
  for (const auto* each : all_commands(program)) {
    table += table_line(*each);
    values += value_lines(*each);
  }
  return "# bash completion for zkadmin, made by `zkadmin completion bash`\n\n_zkadmin_table() {\n  case \"$1\" in\n" +
         table + "  esac\n}\n\n_zkadmin_values() {\n  values='' files=''\n  case \"$1\" in\n" + values + "  esac\n}\n" +
         completion;
}

}  // namespace zkadmin
