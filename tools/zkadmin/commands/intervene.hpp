// Shows the requests that would change something or, with --rw, sends them; and keeps the audit log of that.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "change/intervention.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"

namespace zkadmin {

using preparation = std::function<boost::asio::awaitable<intervention>(zkrecipes::session, std::string path)>;

/// Follows what was asked for to its end, and keeps in `told` where it stands. Throws `failure`.
using following = std::function<boost::asio::awaitable<void>(zkrecipes::session, std::string path, std::string& told)>;

/// What the command does when the requests have been sent; nothing by default.
struct sequel {
  following follow{};
  std::chrono::milliseconds limit{0};
};

/// Prepares an intervention at `path`, which is checked first, and sends it if `read_write`. One that has to be
/// confirmed is sent only if `yes` names the path, or the user types it and it is still the same then. If there are no
/// requests to send, goes on with the sequel. Throws `failure`.
exit_code intervene(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                    preparation prepare, sequel then = {}, const std::optional<std::string>& yes = {});

// Keeps the audit log of interventions.

/// Where an intervention will be logged, for the user: "audit file FILE", "audit node PATH", one a line. Empty if the
/// settings name no log.
std::string audit_plan(const settings& wanted);

/// Carries out an intervention by `act`, which returns what the user is told, or throws `failure`. All that changes a
/// cluster goes through this: that it begins is written into the logs first, and if that fails, nothing is sent
/// (`failure`). Then the logs are told how it ended; if that fails, the user is told so, and no more. `requests`: as
/// they were shown.
std::string audited(surroundings& around, const std::shared_ptr<contact>& with, const std::string& requests,
                    const std::function<std::string()>& act);

}  // namespace zkadmin
