// What only a ZooKeeper session can tell: the elections. The one place, beside `resign`, that needs the
// library.
#pragma once

#include "cluster/search.hpp"
#include "cluster/status.hpp"
#include "settings/settings.hpp"

#include <zkrecipes/session.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace zkadmin {

/// How many requests are in flight at a time.
inline constexpr std::size_t requests_at_a_time = 64;

/// A session with these servers, as the settings want it; operations on it end within the timeout. A server
/// has `connect_limit` to accept it.
zkrecipes::session make_session(const boost::asio::any_io_executor& executor, const settings& wanted,
                                const std::vector<endpoint>& servers,
                                std::chrono::milliseconds connect_limit);

/// Throws `failure` with the text and the exit code that fit, unless there is no error. `doing`: "reading
/// /a".
void check(const zkrecipes::error_code& error, const std::string& doing);

/// One election as it is now; nothing if its node is gone. Throws `failure`; foreign data is no failure but a
/// phase.
boost::asio::awaitable<std::optional<election_status>> view_election(zkrecipes::session session,
                                                                     std::string path);

/// Finds the elections below a root and looks at them. One operation at a time; they throw `failure`. After
/// the deadline they begin nothing more: the survey is not complete then.
class collector {
 public:
  collector(zkrecipes::session session, std::string root);

  /// Walks the tree: finds elections that are new and forgets those that are gone.
  boost::asio::awaitable<void> find_elections(deadline limit = deadline::max());

  /// Looks at those found.
  boost::asio::awaitable<election_survey> look(deadline limit = deadline::max());

 private:
  struct glance;
  boost::asio::awaitable<void> look_at(glance& one, deadline limit);

  zkrecipes::session session_;
  std::string root_;
  std::vector<std::string> paths_;
  election_survey outline_;  ///< What the search says about the next survey.
};

}  // namespace zkadmin
