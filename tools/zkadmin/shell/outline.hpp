// The command line as plain data. Help is made from the same table, which CLI11 keeps.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace zkadmin {

struct outlined_option {
  std::vector<std::string> names{};    ///< With dashes, short ones first. An argument has its name.
  std::string value{};                 ///< What it takes: "FILE", "table|json"; empty: nothing.
  std::vector<std::string> choices{};  ///< The values, if the table lists them.
  std::string help{};
  bool required = false;
  bool repeated = false;    ///< Takes more than one value.
  bool is_setting = false;  ///< Every command has it.
};

struct outlined_command {
  std::string name{};  ///< "group freeze"; of the program itself: empty.
  std::string help{};
  std::vector<outlined_option> options{};
  std::vector<outlined_option> arguments{};
  std::vector<outlined_command> commands{};
};

/// The group of the options that every command has.
inline constexpr const char* settings_group = "Settings";

outlined_command outline_of(const CLI::App& app, const std::string& name = {});

/// The command and all below it, in order.
std::vector<const outlined_command*> all_commands(const outlined_command& top);

/// The last word of a command's name.
std::string last_word(const outlined_command& of);

/// A manual page for man(1). `version`: that of the program; `notes`: text behind the commands.
std::string to_man(const outlined_command& program, const std::string& version, const std::string& notes);

std::string to_bash(const outlined_command& program);
std::string to_zsh(const outlined_command& program);
std::string to_fish(const outlined_command& program);

}  // namespace zkadmin
