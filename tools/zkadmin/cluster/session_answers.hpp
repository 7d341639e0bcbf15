// What a server answers about sessions: by its AdminServer, and by the four-letter words `conf`, `cons` and `dump`.
// Pure functions, which never fail, whatever the text. They pick out what they know: an answer may hold secrets of
// clients.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/session_status.hpp"

namespace zkadmin {

/// More of an answer is not read. 10 000 sessions take about 5 MiB.
inline constexpr std::size_t longest_session_answer = 16 * 1024 * 1024;

/// The connections of one server.
struct told_connections {
  bool is_answer = false;  ///< The source knows the question, so that what was read counts.
  std::string trouble{};   ///< Why it is no answer, or not all of it.
  std::vector<session_status> sessions{};
};

/// The sessions and their ephemeral nodes, as one server knows them.
struct told_owners {
  bool is_answer = false;
  std::string trouble{};
  /// Those that are alive, also without nodes, as far as the server tells; with the timeout if it does.
  std::map<std::int64_t, std::optional<std::chrono::milliseconds>> sessions{};
  std::map<std::int64_t, std::vector<std::string>> nodes{};  ///< By session.
};

/// What tells a server from the others of its machine.
struct server_identity {
  std::string trouble{};         ///< Why it is not known; empty: it is.
  std::int64_t client_port = 0;  ///< Without TLS.
  std::string data_dir{};        ///< Empty: not known.
};

/// Why the answer of an AdminServer to /commands/configuration is not that of this server; empty: it is.
std::string doubts_about_admin(std::string_view body, const server_identity& server);
/// The answer of the AdminServer to /commands/connections, without its header.
told_connections parse_admin_connections(std::string_view body);
/// That to /commands/dump.
told_owners parse_admin_dump(std::string_view body);

server_identity parse_conf(std::string_view answer);
told_connections parse_cons(std::string_view answer);
told_owners parse_dump(std::string_view answer);

}  // namespace zkadmin
