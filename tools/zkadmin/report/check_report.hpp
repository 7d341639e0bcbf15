// Prints what `check` has found, and what `audit` has on record. docs/zkadmin.md describes the formats.
#pragma once

#include <span>
#include <string>

#include "change/audit.hpp"
#include "problems/verdict.hpp"
#include "settings/command_line.hpp"

namespace zkadmin {

// Prints the audit log.

std::string formatted_audit(std::span<const audit_entry> entries, output_format format, bool complete = true);

/// For monitoring: the first line says it all, then a line for each problem and for what is not known. Plug-ins of
/// Nagios write figures behind a `|`, so this one is written as `¦`.
std::string to_lines(const verdict& judged);

/// The first line of a check that could not begin, in every format.
std::string to_line(const std::string& failed);

/// One line of JSON, "schema":1.
std::string to_json(const verdict& judged);

/// One line about the check, and one per problem and note.
std::string to_tsv(const verdict& judged);

}  // namespace zkadmin
