// The sessions of a cluster at one moment: plain data.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/survey.hpp"

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

}  // namespace zkadmin
