// Ends a place in line by force, once somebody who was asked to give it up has not.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "cluster/intervention.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"

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

}  // namespace zkadmin
