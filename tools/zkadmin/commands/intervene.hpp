// Shows the requests that would change something or, with --rw, sends them.
#pragma once

#include <functional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "cluster/intervention.hpp"
#include "commands/commands.hpp"

namespace zkadmin {

using preparation = std::function<boost::asio::awaitable<intervention>(zkrecipes::session, std::string path)>;

/// Prepares an intervention at `path`, which is checked first, and sends it if `read_write`. Throws `failure`.
exit_code intervene(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                    preparation prepare);

}  // namespace zkadmin
