// Finds and reads recipes, which takes a ZooKeeper session.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/place.hpp"
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
class collector final : public place {
 public:
  collector(zkrecipes::session session, std::string root);

  boost::asio::awaitable<void> search(deadline limit = deadline::max()) override;
  std::vector<std::string> found(recipe which) const override;
  void forget(recipe which, const std::string& path) override { std::erase(paths_[which], path); }
  election_survey outline() const override { return outline_; }
  boost::asio::awaitable<election_survey> elections(deadline limit = deadline::max()) override;
  boost::asio::awaitable<group_survey> groups(deadline limit = deadline::max()) override;

 private:
  struct glance;
  boost::asio::awaitable<void> look_at(glance& one, deadline limit);

  zkrecipes::session session_;
  std::string root_;
  std::map<recipe, std::vector<std::string>> paths_;
  election_survey outline_;  ///< Notes and marks of the search, for the next survey.
};

}  // namespace zkadmin
