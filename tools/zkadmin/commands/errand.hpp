// Work that takes one session, within the time limit of a command; what it prints, and what the user has to confirm.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "cluster/tree_search.hpp"
#include "commands/commands.hpp"

namespace zkadmin {

/// Has to keep alive what it works on, because it may go on after the command has stopped waiting. Throws `failure`.
/// Should send nothing after the deadline, which leaves time for answers.
using errand = std::function<boost::asio::awaitable<void>(zkrecipes::session, deadline)>;

/// Opens a session, runs the errand and closes the session. The failure, if there was one; the errand may have done a
/// part. `about`: of these nothing is known without a server that serves.
std::optional<failure> run_errand(surroundings& around, const settings& wanted, errand work,
                                  const std::string& about = "nodes");

/// Flushes the output of a command. Throws `failure` if it could not be written.
void finish_output(surroundings& around);

// How `check` ends, whatever it has looked at.

/// Prints the verdict, and returns its state. Throws `failure` if the output could not be written.
check_state print_verdict(surroundings& around, const verdict& judged, output_format format);

// Asks the user to confirm what does damage.

/// Returns if `yes`, the value of --yes, is the path; without --yes if the user types the path at the terminal. Else
/// throws `failure`. `deed`: what will be done, such as "delete 3 nodes". Returns whether the path was typed, which may
/// have taken long.
bool require_path(surroundings& around, const std::string& path, const std::optional<std::string>& yes,
                  const std::string& deed);

}  // namespace zkadmin
