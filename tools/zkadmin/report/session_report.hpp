// Prints sessions. docs/zkadmin.md describes the formats.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "sessions/session_answers.hpp"

namespace zkadmin {

/// A survey that is missing: the sessions are not known.
using known_sessions = std::optional<session_survey>;

/// For people: where the knowledge comes from, and a row for each session. `now`: this machine's clock, since 1970.
std::string to_table(const known_sessions& sessions, std::chrono::milliseconds now);

/// For people: all that is known of each of these, with the nodes.
std::string to_details(const session_survey& sessions, std::chrono::milliseconds now);

/// One line of JSON, "schema":1. `with_nodes`: the nodes by path, not only their number.
std::string to_json(const known_sessions& sessions, bool with_nodes, std::chrono::milliseconds now);

/// One line about the survey, and one per server, session, node and note.
std::string to_tsv(const known_sessions& sessions, bool with_nodes, std::chrono::milliseconds now);

}  // namespace zkadmin
