#include "shell/outline.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

#include "base/text.hpp"

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

namespace {

std::string fish_quoted(const std::string& text) {
  std::string escaped = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped + "'";
}

std::string words_of(const std::vector<std::string>& choices) {
  std::string text;
  for (const auto& each : choices) text += (text.empty() ? "" : " ") + each;
  return text;
}

/// "-s o -l output", as fish names options.
std::string option_flags(const outlined_option& option) {
  std::string text;
  for (const auto& each : option.names)
    text += each.starts_with("--") ? " -l " + each.substr(2) : " -s " + each.substr(1);
  return text;
}

std::string value_flags(const outlined_option& option) {
  if (option.value.empty()) return "";
  if (option.value == "FILE") return " -r -F";
  return option.choices.empty() ? " -x" : " -x -a " + fish_quoted(words_of(option.choices));
}

std::string lines_of(const outlined_command& command) {
  const auto begin = "complete -c zkadmin -n " + fish_quoted("__zkadmin_is_at " + fish_quoted(command.name));
  std::string text;
  for (const auto& each : command.commands)
    text += begin + " -a " + last_word(each) + " -d " + fish_quoted(each.help) + "\n";
  for (const auto& each : command.options)
    text += begin + option_flags(each) + value_flags(each) + " -d " + fish_quoted(each.help) + "\n";
  for (const auto& each : command.arguments)
    if (!each.choices.empty()) text += begin + " -a " + fish_quoted(words_of(each.choices)) + "\n";
  return text;
}

/// The names of the commands, and the options that have a value, are what tells where the words before are.
std::string position_of(const outlined_command& program) {
  std::string names, valued;
  for (const auto* command : all_commands(program)) {
    if (!command->name.empty()) names += " " + fish_quoted(command->name);
    for (const auto& each : command->options)
      for (const auto& name : each.names)
        if (!each.value.empty()) valued += " " + fish_quoted(command->name + "|" + name);
  }
  return "set -g __zkadmin_commands" + names + "\nset -g __zkadmin_valued" + valued + R"fish(

function __zkadmin_is_at
  set -l words (commandline -opc)
  set -l at ''
  set -l skip 0
  for word in $words[2..-1]
    set -l next (string trim -- "$at $word")
    if test $skip = 1
      set skip 0
    else if contains -- "$at|$word" $__zkadmin_valued
      set skip 1
    else if contains -- $next $__zkadmin_commands
      set at $next
    end
  end
  test "$at" = "$argv[1]"
end

)fish";
}

}  // namespace

std::string to_fish(const outlined_command& program) {
  std::string text = "# fish completion for zkadmin, made by `zkadmin completion fish`\n";
  text += position_of(program) + "complete -c zkadmin -f\n";
  for (const auto* each : all_commands(program)) text += lines_of(*each);
  return text;
}

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
