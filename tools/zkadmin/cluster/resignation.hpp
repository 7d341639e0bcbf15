// Asks a leader to give up, or ends its place.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/intervention.hpp"
#include "cluster/status.hpp"

namespace zkadmin {

/// The leader of an election, and the request to it.
struct resignation {
  candidate_status leader;
  std::int64_t epoch = 0;
  std::optional<std::chrono::milliseconds> asked_before{};  ///< How long ago; then there is no request.
  intervention request{};
};

/// Prepares the request to the present leader at `path`. Throws `failure`, also if the leader is a foreign client,
/// which does not listen to such a request.
boost::asio::awaitable<resignation> find_resignation(zkrecipes::session session, std::string path);

/// The same, and throws `failure`, too, if the leader has been asked already.
boost::asio::awaitable<intervention> prepare_resignation(zkrecipes::session session, std::string path);

/// Prepares the removal of the leader's node. Nothing if the node has gone, or is another one. Throws `failure`.
boost::asio::awaitable<std::optional<intervention>> prepare_eviction(zkrecipes::session session, std::string path,
                                                                     candidate_status leader);

}  // namespace zkadmin
