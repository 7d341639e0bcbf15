// The nodes on which the state of a recipe depends.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <zkrecipes/session.hpp>

#include "base/tasks.hpp"
#include "cluster/commit.hpp"
#include "cluster/queue.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/topic.hpp"

namespace zkadmin {

enum class watched_part { data, children };

/// A node that is missing is waited for, whatever the part.
struct watched_node {
  std::string path;
  watched_part part = watched_part::data;
  friend auto operator<=>(const watched_node&, const watched_node&) = default;
};

using watched_nodes = std::vector<watched_node>;

/// What to watch for the next state of something that was in this state. A topic with many shards or groups has too
/// many nodes to be watched: only its own data is among them, see `is_watched`.
watched_nodes nodes_of(const topic_status& topic);
watched_nodes nodes_of(const commit_status& commit);
watched_nodes nodes_of(const queue_status& queue);
watched_nodes nodes_of(const recipe_status& recipe);

/// Whether watches tell all changes of something in this state.
bool is_watched(const topic_status& topic) noexcept;
inline bool is_watched(const commit_status&) noexcept { return true; }
inline bool is_watched(const queue_status&) noexcept { return true; }
/// Not if it may not be read, because no watch tells that an access list has changed; nor if its kind has other nodes
/// than itself and its participants.
bool is_watched(const recipe_status& recipe) noexcept;

// Waits until something of a set of nodes may have changed.

/// Watches nodes. A list of many children is not watched, because each watch and each notification costs the whole
/// list: it is looked at again from time to time, so seldom that reading the list then costs at most 64 KiB a second.
/// Made by `make`. For one coroutine.
class node_watches : public std::enable_shared_from_this<node_watches> {
 public:
  static constexpr std::int32_t most_watched_children = 1'000;

  static std::shared_ptr<node_watches> make(zkrecipes::session session);

  /// Watches these, and no others. Two requests for each that was not watched before, one for each that has changed.
  /// Returns whether one has changed since the last `renew`, or may have: a reading in between may be out of date. That
  /// a node which was not watched has not changed is known if all that the last `renew` has seen is younger. Throws
  /// `failure`.
  boost::asio::awaitable<bool> renew(watched_nodes nodes);

  /// Completes when one of them may have changed, or at `limit`.
  boost::asio::awaitable<void> changed(std::chrono::steady_clock::time_point limit);

 private:
  using clock = std::chrono::steady_clock;
  struct watched {
    bool is_armed = false;
    std::optional<zkrecipes::node_stat> seen{};  ///< At the last look; nothing: it was missing, or not looked at.
    bool is_looked_at = false;
    std::optional<clock::time_point> look_due{};  ///< For a list that is not watched.
    background_task task{};
  };

  explicit node_watches(zkrecipes::session session);
  boost::asio::awaitable<void> arm(watched_node node, std::int64_t& newest);
  boost::asio::awaitable<void> await_change(watched_node node, std::optional<zkrecipes::node_stat> seen);
  boost::asio::awaitable<void> look_at_lists();
  bool has_fired() const;
  clock::time_point next_look() const;

  zkrecipes::session session_;
  boost::asio::steady_timer wake_;
  std::map<watched_node, watched> all_;
  std::int64_t newest_ = 0;  ///< The newest transaction that a look has told of.
};

}  // namespace zkadmin
