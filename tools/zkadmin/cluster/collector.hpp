// What only a ZooKeeper session can tell: the elections. The one place, beside `resign`, that needs the
// library.
#pragma once

#include "cluster/status.hpp"
#include "settings/settings.hpp"

#include <zkrecipes/session.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>
#include <vector>

namespace zkadmin {

/// A session as the settings want it; operations on it end within the timeout.
zkrecipes::session make_session(const boost::asio::any_io_executor& executor, const settings& wanted);

/// Throws `failure` with the text and the exit code that fit, unless there is no error. `doing`: "reading
/// /a".
void check(const zkrecipes::error_code& error, const std::string& doing);

/// One election as it is now; nothing if its node is gone. Throws `failure`; foreign data is no failure but a
/// phase.
boost::asio::awaitable<std::optional<election_status>> view_election(zkrecipes::session session,
                                                                     std::string path);

/// Finds the elections below a root and looks at them. One operation at a time; they throw `failure`.
class collector {
 public:
  collector(zkrecipes::session session, std::string root);

  /// Walks the tree: finds elections that are new and forgets those that are gone.
  boost::asio::awaitable<void> find_elections();

  /// Looks at those found.
  boost::asio::awaitable<election_survey> look();

 private:
  struct search;
  boost::asio::awaitable<void> visit(const std::string& path, search& going);

  zkrecipes::session session_;
  std::string root_;
  std::vector<std::string> paths_;
  std::vector<std::string> notes_;
};

}  // namespace zkadmin
