// Asks those that hold something to give up, and follows that to its end, by force if need be.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "change/intervention.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "settings/command_line.hpp"

namespace zkadmin {

struct place_end {
  std::shared_ptr<contact> with;
  std::string owner;  ///< As told to the user: "the leader".
  /// Prepares the removal of the owner's node; nothing if it has gone, or is another one.
  std::function<boost::asio::awaitable<std::optional<intervention>>()> prepare;
};

/// Deletes the node if it is still there, and tells on `err` what came of it. A refusal is no end: the owner may give
/// up all the same.
void end_place(surroundings& around, const place_end& which);

// Asks a leader to give up, and follows the hand-over to its end.

/// Returns `ok` once a successor executes. Throws `failure`.
exit_code follow_resignation(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                             const resignation_options& how);

// Asks holders to give up, and follows it until they have gone.

/// Returns `ok` once the nodes of all holders that were to give up have gone. Throws `failure`.
exit_code follow_revocation(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                            const line_request& how);

}  // namespace zkadmin
