#include "shell/outline.hpp"

namespace zkadmin {
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

}  // namespace zkadmin
