#include "shell/outline.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>

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

}  // namespace zkadmin
