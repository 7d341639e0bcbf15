// The options that several commands share. Only the files that build the command line include this.
#pragma once

#include <chrono>
#include <optional>
#include <span>

#include <CLI/CLI.hpp>

#include "settings/command_line.hpp"

namespace CLI {
class App;
}

namespace zkadmin {

/// Adds `--config` and the settings. Each command has them itself, so that the help of each command is complete.
void add_common(CLI::App& app, invocation& asked);

CLI::App& add_command(CLI::App& app, invocation& asked, command which, const char* name, const char* help);

void add_format(CLI::App& app, invocation& asked);

/// For a command that changes something at a path.
void add_change(CLI::App& app, invocation& asked, const char* path_help);

/// A duration, kept as an option.
void add_duration(CLI::App& app, const char* name, std::optional<std::chrono::milliseconds>& into, const char* help);

/// `--broker`, and the options that begin so.
void add_broker(CLI::App& app, invocation& asked);

/// `-o` of a command that follows something to its end.
void add_line_format(CLI::App& app, bool& as_lines);

// The commands, by what they are about.
void add_overview_commands(CLI::App& app, invocation& asked);  ///< `dashboard`, `status`, `sessions`
void add_election_commands(CLI::App& app, invocation& asked);  ///< `resign`, `history`, `audit`, `expire`
void add_group_commands(CLI::App& app, invocation& asked);     ///< `groups` and `group`
void add_topic_commands(CLI::App& app, invocation& asked);     ///< `topics` and `streams`
void add_recipe_commands(CLI::App& app, invocation& asked);    ///< `recipes`
void add_node_commands(CLI::App& app, invocation& asked);  ///< `ls`, `get`, `stat`, `tree`, `watch`, `set`, `delete`
void add_hold_commands(CLI::App& app, invocation& asked);  ///< `lock` and `lead`
void add_monitoring_commands(CLI::App& app, invocation& asked);  ///< `check` and `exporter`
void add_shell_commands(CLI::App& app, invocation& asked);       ///< `completion` and `man`
void add_queue_commands(CLI::App& app, invocation& asked);       ///< `queue`
void add_commit_commands(CLI::App& app, invocation& asked);      ///< `commit`
void add_line_commands(CLI::App& app, invocation& asked);        ///< `revoke`, `evict` and `service`

// The options of `lock` and `lead` on the command line.

void add_lock_options(CLI::App& lock, hold_options& how);
void add_lead_options(CLI::App& lead, hold_options& how);

/// Moves what stands behind the first "--" into the options, as it is, and returns what stands in front.
std::span<const char* const> without_words(std::span<const char* const> arguments, hold_options& how);

}  // namespace zkadmin
