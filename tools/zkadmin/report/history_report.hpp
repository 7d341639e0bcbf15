// Prints the last terms of an election.
#pragma once

#include <chrono>
#include <string>

#include "cluster/status.hpp"
#include "settings/command_line.hpp"
#include "terminal/table.hpp"

namespace zkadmin {

/// One row a term, the present one last; `now` tells how long that one lasts. The same in print and on the screen.
table history_table(const election_status& election, std::chrono::system_clock::time_point now);

std::string formatted_history(const election_status& election, output_format format,
                              std::chrono::system_clock::time_point now);

}  // namespace zkadmin
