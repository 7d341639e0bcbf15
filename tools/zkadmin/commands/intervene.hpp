// Shows the requests that would change something or, with --rw, sends them.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "cluster/intervention.hpp"
#include "commands/commands.hpp"

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

}  // namespace zkadmin
