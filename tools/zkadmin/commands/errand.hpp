// Work that takes one session, within the time limit of a command.
#pragma once

#include <functional>
#include <optional>

#include <boost/asio/awaitable.hpp>

#include "cluster/tree_search.hpp"
#include "commands/commands.hpp"

namespace zkadmin {

/// Has to keep alive what it works on, because it may go on after the command has stopped waiting. Throws `failure`.
/// Should send nothing after the deadline, which leaves time for answers.
using errand = std::function<boost::asio::awaitable<void>(zkrecipes::session, deadline)>;

/// Opens a session, runs the errand and closes the session. The failure, if there was one; the errand may have done a
/// part.
std::optional<failure> run_errand(surroundings& around, const settings& wanted, errand work);

/// Flushes the output of a command. Throws `failure` if it could not be written.
void finish_output(surroundings& around);

}  // namespace zkadmin
