// The state of elections and of shard groups, kept up to date by watches.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer/shard_group_view.hpp>
#include <zkrecipes/election.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/session.hpp>

#include "base/tasks.hpp"
#include "cluster/group.hpp"
#include "cluster/status.hpp"
#include "cluster/tree_search.hpp"

namespace zkadmin {

// The state of shard groups, kept up to date by watches.

/// Follows shard groups: one that does not change costs no request. Made by `make`.
class live_groups : public std::enable_shared_from_this<live_groups> {
 public:
  /// `on_change` is called behind each change.
  static std::shared_ptr<live_groups> make(zkrecipes::session session, std::function<void()> on_change);

  /// Follows these, and no others. A group is in the survey once it has been read.
  void follow(const std::vector<std::string>& paths);
  /// The connection is lost, and with it the watches: the next `follow` begins anew.
  void forget_watches();
  /// Whether each has been read, or can not be.
  bool is_ready() const;

  /// As they are now, with the planner that `planner_of` tells for a path. Asks no server.
  group_survey survey(const std::function<group_planner(const std::string&)>& planner_of) const;

 private:
  struct followed {
    bool is_known = false;  ///< Since the last connection.
    bool is_followed = false;
    zkrecipes::error_code error{};
    std::shared_ptr<const zkrecipes::shard_group_view> view{};
    std::chrono::steady_clock::time_point emptied{};  ///< The last member went.
    background_task task{};
  };

  live_groups(zkrecipes::session session, std::function<void()> on_change);
  boost::asio::awaitable<void> follow_one(std::string path);
  void set(const std::string& path, const zkrecipes::error_code& error, zkrecipes::shard_group_view view);

  zkrecipes::session session_;
  std::function<void()> on_change_;
  std::map<std::string, followed> all_;
};

/// Follows elections: one that does not change costs no request, a change three to four. A node that is
/// no election, or may not be read, is looked at again when its data changes, or every minute.
///
/// Made by `make`. One operation at a time.
class live_elections : public std::enable_shared_from_this<live_elections> {
 public:
  /// `on_change` is called behind each change. `before_loss` is told the state of an election that no survey has shown
  /// and that is about to be replaced, so that none is missed; at most every 50 ms for each. Nothing: the election was
  /// gone.
  struct hooks {
    std::function<void()> on_change{};
    std::function<void(const std::string& path, const std::optional<election_status>& was)> before_loss{};
  };

  /// What a look has given.
  struct next_look {
    zkrecipes::error_code error{};
    zkrecipes::election_view view{};
  };

  static std::shared_ptr<live_elections> make(zkrecipes::session session, hooks callbacks);

  /// Follows these, and no others. Completes when each has been read; those for which the time was not enough are noted
  /// in the survey. Throws `failure`.
  boost::asio::awaitable<void> follow(std::vector<std::string> paths, deadline limit);

  /// The connection is lost, and with it the watches. Each is read again by the next `follow`, a bounded number at a
  /// time; by themselves all would ask at once when the connection is back.
  void forget_watches();

  /// Whether each that is followed has been read. If not, `follow` has to be called again.
  bool is_ready() const;
  /// Whether the last survey would be another one now.
  bool has_news() const;
  /// As they are now. Asks no server.
  election_survey survey();
  /// The election at this path as it was read last; null: there is none, or it is not known.
  const election_status* find(const std::string& path) const;
  /// Whether it is followed, and was not read yet.
  bool is_unread(const std::string& path) const;

 private:
  struct followed {
    bool is_read = false;
    std::optional<election_status> status{};  ///< Nothing: the node is gone, unless it was not read.
    std::string trouble{};                    ///< Why it could not be read.
    std::chrono::steady_clock::time_point read_at{};
    std::chrono::steady_clock::time_point loss_due{};
    background_task task{};
  };

  live_elections(zkrecipes::session session, hooks callbacks);
  boost::asio::awaitable<void> begin(std::string path, deadline limit);
  boost::asio::awaitable<void> follow_one(std::string path, zkrecipes::election_view seen, zkrecipes::error_code last);
  static boost::asio::awaitable<bool> take_over(std::weak_ptr<live_elections> all, zkrecipes::session session,
                                                std::string path, const next_look& next);
  void set(const std::string& path, std::optional<election_status> status);

  zkrecipes::session session_;
  hooks callbacks_;
  std::map<std::string, followed> all_;
  std::set<std::string> unshown_;  ///< Changed since the last survey.
  bool has_others_ = true;         ///< Not the same elections as in the last survey, or not all of them read.
};

}  // namespace zkadmin
