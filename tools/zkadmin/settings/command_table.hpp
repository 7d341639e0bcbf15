// The commands and their options. Only the files that build the command line include this.
#pragma once

#include <span>

#include <CLI/CLI.hpp>

#include "settings/command_line.hpp"

namespace zkadmin {

/// All commands, with their options.
void add_commands(CLI::App& app, invocation& asked);

/// Moves what stands behind the first "--" into the options, as it is, and returns what stands in front.
std::span<const char* const> without_words(std::span<const char* const> arguments, hold_options& how);

}  // namespace zkadmin
