// The sessions of a cluster at one moment: plain data.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/status.hpp"

namespace zkadmin {

/// Where the knowledge about the sessions at one server comes from.
enum class session_source {
  admin_server,  ///< The server's AdminServer, over HTTP.
  four_letter,   ///< The four-letter words `cons` and `dump`.
  tree,          ///< The server told nothing: only owners of ephemeral nodes are known.
};

/// As shown: "admin_server", "four_letter", "tree".
const char* to_string(session_source source) noexcept;

/// An ephemeral node of a session.
struct owned_node {
  std::string path;
  std::string kind{};    ///< "lock", "lock or election"; empty: it is not known to belong to a recipe.
  std::string recipe{};  ///< Path of the recipe.
  std::string role{};    ///< "holder", "leader", "member"...; empty: not known.
  friend bool operator==(const owned_node&, const owned_node&) = default;
};

/// Values that the source did not tell are missing.
struct session_status {
  std::int64_t id = 0;
  std::string server{};  ///< The one that it is connected to, as configured; empty: not known.
  std::string client{};  ///< Address and port, as the server sees them.
  std::optional<std::chrono::milliseconds> timeout{};
  std::optional<std::chrono::milliseconds> established{};  ///< Since 1970, by the server's clock.
  std::optional<std::int64_t> outstanding{};               ///< Requests that the server has not answered yet.
  std::optional<std::int64_t> received{};                  ///< Packets, as the next.
  std::optional<std::int64_t> sent{};
  std::optional<std::chrono::milliseconds> last_latency{};
  /// By which its last answer was before the last one that the server has sent to anybody: at least so long it is ago.
  std::optional<std::chrono::milliseconds> idle{};
  std::string last_operation{};                    ///< "PING", "CREA", ...
  std::optional<std::vector<owned_node>> nodes{};  ///< Those below the root of the hosts, by path. Nothing: not known.
  std::uint64_t outside = 0;                       ///< Nodes elsewhere in the tree.
  friend bool operator==(const session_status&, const session_status&) = default;
};

/// One of the servers that were asked.
struct asked_server {
  std::string server;  ///< As configured, "host:port".
  session_source source = session_source::tree;
  std::optional<std::uint64_t> sessions{};  ///< How many are connected to it; nothing: not known.
  std::string why{};                        ///< Why it is not a better source; empty for the best.
  friend bool operator==(const asked_server&, const asked_server&) = default;
};

/// Sorted by id.
struct session_survey : survey<session_status> {
  std::vector<asked_server> servers{};
  std::string nodes_told_by{};  ///< "admin_server of a:2181", "dump of a:2181", "tree".
};

// What a server answers about sessions: by its AdminServer, and by the four-letter words `conf`, `cons` and `dump`.
// Pure functions, which never fail, whatever the text. They pick out what they know: an answer may hold secrets of
// clients.

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
