// Finds and reads the elections, which takes a ZooKeeper session.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/status.hpp"
#include "cluster/tree_search.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// How many requests may be in flight at a time.
inline constexpr std::size_t requests_at_a_time = 64;

/// Opens a session with these servers, with the root and the credentials of the settings. An operation on it waits for
/// a connection and is retried for the settings' timeout at most. Each server has `connect_limit`, but at least 100 ms,
/// to accept the session.
zkrecipes::session make_session(const boost::asio::any_io_executor& executor, const settings& wanted,
                                const std::vector<endpoint>& servers, std::chrono::milliseconds connect_limit);

/// Throws `failure` with the message and the exit code for this error; returns if there is no error. `doing` says what
/// was tried, such as "reading /a".
void check(const zkrecipes::error_code& error, const std::string& doing);

/// The present state of one election; nothing if its node is gone. Foreign data and refused access are shown as a
/// phase; other errors throw `failure`.
boost::asio::awaitable<std::optional<election_status>> view_election(zkrecipes::session session, std::string path);

/// Finds the elections at and below a root and reads their state. One operation at a time; each throws `failure`. After
/// the deadline no further requests are sent, and the survey is marked as incomplete.
class collector {
 public:
  collector(zkrecipes::session session, std::string root);

  /// Walks the tree: finds new recipes and, if the walk was complete, forgets those that are gone.
  boost::asio::awaitable<void> find_elections(deadline limit = deadline::max());

  /// The paths of this recipe that the last search has found.
  const std::vector<std::string>& found(recipe which) { return paths_[which]; }
  /// It is not there any more. A search that is not complete would go on with it.
  void forget(recipe which, const std::string& path) { std::erase(paths_[which], path); }
  /// What the last search has left out, without any recipes.
  const election_survey& outline() const noexcept { return outline_; }

  /// Reads the state of the elections that were found.
  boost::asio::awaitable<election_survey> look(deadline limit = deadline::max());

 private:
  struct glance;
  boost::asio::awaitable<void> look_at(glance& one, deadline limit);

  zkrecipes::session session_;
  std::string root_;
  std::map<recipe, std::vector<std::string>> paths_;
  election_survey outline_;  ///< Notes and marks of the search, for the next survey.
};

}  // namespace zkadmin
