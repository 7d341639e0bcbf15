// Finds and reads recipes, which takes a ZooKeeper session.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "cluster/group.hpp"
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

// Nothing: there is no such node. Throw `failure` for other errors.

boost::asio::awaitable<std::optional<zkrecipes::node_stat>> find_stat(zkrecipes::session session, std::string path);
boost::asio::awaitable<std::optional<zkrecipes::node_data>> find_node(zkrecipes::session session, std::string path);
/// The names of the children.
boost::asio::awaitable<std::optional<std::vector<std::string>>> find_children(zkrecipes::session session,
                                                                              std::string path);

/// Reads a place: one operation at a time, each of which reads everything anew, and throws `failure`. After the
/// deadline no further requests are sent, and the survey is marked as incomplete.
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

// Finds all recipes of one kind, and reads the state of each.

template <class Status>
using reader = std::function<boost::asio::awaitable<reading<Status>>(zkrecipes::session, std::string path)>;

using path_hook = std::function<void(const std::string& path)>;

struct reading_options {
  bool keeps_on = false;  ///< A failure is noted, and the others are read all the same.
  path_hook is_gone{};    ///< Told of one that is not there any more.
};

template <class Status>
void add_to(survey<Status>& all, const std::string& path, reading<Status> seen) {
  using zkrecipes::errc;
  if (seen.error == errc::no_node) return;  // it has gone since the search
  if (seen.error == errc::foreign_data) {
    all.complete = false;
    all.notes.push_back({path, "it holds data that this zkadmin does not understand"});
    return;
  }
  if (seen.error == errc::no_auth) {
    all.refused = true;
    all.complete = false;
    all.notes.push_back({path, "may not be read with these credentials"});
    return;
  }
  check(seen.error, "looking at " + path);
  all.found.push_back(std::move(seen.status));
}

/// Reads one, and adds what comes of it. Throws `failure`.
template <class Status>
boost::asio::awaitable<void> read_one(zkrecipes::session session, const std::string& path, const reader<Status>& read,
                                      survey<Status>& all, const path_hook& is_gone) {
  auto seen = co_await read(session, path);
  if (seen.error == zkrecipes::errc::no_node && is_gone) is_gone(path);
  add_to(all, path, std::move(seen));
}

/// Adds what comes of reading each of these. Nothing is read after `limit`. Throws `failure`, unless it keeps on.
template <class Status>
boost::asio::awaitable<void> read_each(zkrecipes::session session, std::vector<std::string> paths, reader<Status> read,
                                       deadline limit, survey<Status>& all, reading_options how = {}) {
  for (const auto& path : paths) {
    if (std::chrono::steady_clock::now() >= limit) {
      all.complete = false;
      all.notes.push_back({path, "it was not looked at: the time was over; choose a longer --timeout"});
      continue;
    }
    try {
      co_await read_one(session, path, read, all, how.is_gone);
    } catch (const failure& error) {
      if (!how.keeps_on) throw;
      all.complete = false;
      all.notes.push_back({path, error.what()});
    }
  }
}

/// Those at and below a root. The search ends at `search_limit`; nothing is read after `limit`. Throws `failure`.
template <class Status>
boost::asio::awaitable<survey<Status>> survey_recipes(zkrecipes::session session, std::string root, recipe which,
                                                      reader<Status> read, deadline search_limit, deadline limit) {
  tree_search search(session, std::move(root));
  co_await search.run(search_limit);
  survey<Status> all{{}, search.notes(), search.is_complete(), search.is_refused()};
  co_await read_each<Status>(session, search.found(which), read, limit, all);
  co_return all;
}

/// The one at `path`. Throws `failure`, also if there is none; `kind` names what there should be.
template <class Status>
boost::asio::awaitable<survey<Status>> survey_one(zkrecipes::session session, std::string path, std::string kind,
                                                  reader<Status> read) {
  using zkrecipes::errc;
  auto seen = co_await read(std::move(session), path);
  if (seen.error == errc::no_node) throw failure(exit_code::error, "there is no " + kind + " at " + printable(path));
  if (seen.error == errc::foreign_data) throw failure(exit_code::error, printable(path) + " is no " + kind);
  check(seen.error, "looking at " + path);
  survey<Status> one;
  one.found.push_back(std::move(seen.status));
  co_return one;
}

}  // namespace zkadmin
