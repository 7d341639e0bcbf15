// Asks a server's AdminServer over HTTP.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>
#include <boost/json/object.hpp>

#include "settings/settings.hpp"

namespace zkadmin {

struct admin_answer {
  std::string trouble{};  ///< Why there is none, or not all of it; empty: there is one.
  std::string body{};
  bool is_refused = false;  ///< Nothing listens there.
  bool is_local = false;    ///< It was connected at a loopback address.
};

/// Where the AdminServer beside this server is, with this port.
endpoint admin_endpoint(const endpoint& server, std::uint16_t port);

/// GET `path` of what listens at `where`. A body longer than `most` bytes, a status that is not 200, and an answer that
/// is not over at `limit` are its trouble.
boost::asio::awaitable<admin_answer> ask_admin_server(endpoint where, std::string path, std::size_t most,
                                                      std::chrono::steady_clock::time_point limit);

// The answers of an AdminServer.

/// The object that each command of the AdminServer answers with; nothing: it is something else, and `trouble` says
/// what.
std::optional<boost::json::object> admin_object(std::string_view body, const char* command, std::string& trouble);

}  // namespace zkadmin
