// The command line.
#pragma once

#include "settings/settings.hpp"

#include <iosfwd>
#include <optional>
#include <span>
#include <string>

namespace zkadmin {

enum class command { dashboard, status, resign };
enum class output_format { table, json, tsv };

/// What was asked for.
struct invocation {
  zkadmin::command command = zkadmin::command::dashboard;
  output_format output = output_format::table;
  std::string path;         ///< Of `resign`.
  bool read_write = false;  ///< Of `resign`.
  std::optional<std::string> config;
  raw_settings given;
};

/// Nothing if only help or the version was asked for; that is printed to `out` then. `arguments` without the
/// program's name. Throws `failure` (usage).
std::optional<invocation> parse_command_line(std::span<const char* const> arguments, std::ostream& out);

/// File, environment and command line in growing precedence. Throws `failure`.
settings load_settings(const invocation& asked, const environment& variables);

}  // namespace zkadmin
