// The state of shard groups, kept up to date by watches.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer/shard_group_view.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/session.hpp>

#include "base/tasks.hpp"
#include "cluster/group.hpp"

namespace zkadmin {

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
    background_task task{};
  };

  live_groups(zkrecipes::session session, std::function<void()> on_change);
  boost::asio::awaitable<void> follow_one(std::string path);
  void set(const std::string& path, const zkrecipes::error_code& error, zkrecipes::shard_group_view view);

  zkrecipes::session session_;
  std::function<void()> on_change_;
  std::map<std::string, followed> all_;
};

}  // namespace zkadmin
