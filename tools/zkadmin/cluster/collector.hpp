// Finds and reads recipes, which takes a ZooKeeper session.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/group_status.hpp"
#include "cluster/status.hpp"
#include "cluster/tree_search.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// How many requests may be in flight at a time.
inline constexpr std::size_t requests_at_a_time = 64;

/// What every session of ours has: these servers, the root and the credentials of the settings.
zkrecipes::session_options to_session_options(const settings& wanted, const std::vector<endpoint>& servers);

/// Opens a session with these servers, with the root and the credentials of the settings. An operation on it waits for
/// a connection and is retried for the settings' timeout at most. Each server has `connect_limit`, but at least 100 ms,
/// to accept the session.
zkrecipes::session make_session(const boost::asio::any_io_executor& executor, const settings& wanted,
                                const std::vector<endpoint>& servers, std::chrono::milliseconds connect_limit);

/// Throws `failure` with the message and the exit code for this error; returns if there is no error. `doing` says what
/// was tried, such as "reading /a".
void check(const zkrecipes::error_code& error, const std::string& doing);

/// Reads a place once: each operation reads everything anew.
/// One operation at a time; each throws `failure`. After the deadline no further requests are sent, and the survey is
/// marked as incomplete.
class collector {
 public:
  collector(zkrecipes::session session, std::string root);

  /// Finds new recipes, and forgets those that are gone, as far as the search was complete.
  boost::asio::awaitable<void> search(deadline limit = deadline::max());
  /// The paths of this recipe that the last search has found.
  std::vector<std::string> found(recipe which) const;
  /// It is not there any more. A search that is not complete would go on with it.
  void forget(recipe which, const std::string& path) { std::erase(paths_[which], path); }
  /// What the last search has left out, without any recipes.
  election_survey outline() const { return outline_; }
  /// The state of the elections that were found.
  boost::asio::awaitable<election_survey> elections(deadline limit = deadline::max());
  /// The state of the shard groups that were found. A group that can not be read is noted.
  boost::asio::awaitable<group_survey> groups(deadline limit = deadline::max());

 private:
  struct glance;
  boost::asio::awaitable<void> look_at(glance& one, deadline limit);

  zkrecipes::session session_;
  std::string root_;
  std::map<recipe, std::vector<std::string>> paths_;
  election_survey outline_;  ///< Notes and marks of the search, for the next survey.
};

}  // namespace zkadmin
