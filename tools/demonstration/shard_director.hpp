#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer/shard_group.hpp>

#include "fault_plan.hpp"
#include "shard_source.hpp"
#include "stage.hpp"
#include "summary.hpp"

namespace demo {

// Watches the shard group from outside: who is in it, who owns what, and what is still to be consumed.

class shard_observer {
 public:
  shard_observer(zkrecipes::session session, std::uint32_t shards, shard_source& source,
                 std::function<void(const std::string&)> say);

  /// Runs until the session is closed.
  boost::asio::awaitable<void> run();

  const zkrecipes::shard_group_view& view() const noexcept { return view_; }
  bool has_member(const std::string& id) const { return find(id) != nullptr; }
  /// The name of the member's node; empty if it is not there.
  std::string node_of(const std::string& id) const;
  std::size_t shards_of(const std::string& id) const;
  /// How many shards are executed by the member that is to own them.
  std::size_t owned() const;
  /// How many members there were after each join, the joining one among them.
  const std::vector<std::size_t>& joins() const noexcept { return joins_; }

 private:
  void on_view(zkrecipes::shard_group_view next);
  void print_members(const zkrecipes::shard_group_view& next);
  void print_state(std::uint64_t lag);
  const zkrecipes::group_member_view* find(const std::string& id) const;

  zkrecipes::session session_;
  zkrecipes::shard_group group_;
  shard_source& source_;
  std::function<void(const std::string&)> say_;
  zkrecipes::shard_group_view view_;
  std::set<std::string> seen_;  // names of nodes
  std::vector<std::size_t> joins_;
  std::string told_;
};

/// Injects faults while the members of a shard group work, and waits until all messages are settled and all shards are
/// owned.
class shard_director : private stage {
 public:
  shard_director(boost::asio::io_context& io, const direction& how);

  boost::asio::awaitable<void> run();
  const shard_summary& outcome() const noexcept { return summary_; }

 private:
  boost::asio::awaitable<void> make_trouble();
  boost::asio::awaitable<void> cause(fault_kind what);
  boost::asio::awaitable<void> kill_owner();
  boost::asio::awaitable<void> kill_planner();
  boost::asio::awaitable<void> pause_owner();
  boost::asio::awaitable<void> dismiss_owner(fault_kind how);
  boost::asio::awaitable<void> cut_server();
  boost::asio::awaitable<void> kill_broker();
  // The incidents of the surroundings, one at a time.
  boost::asio::awaitable<void> begin_incident(fault_kind what);
  boost::asio::awaitable<void> interrupt_database(duration length);
  boost::asio::awaitable<void> crash_in_a_loop();
  boost::asio::awaitable<void> restore_backup();
  boost::asio::awaitable<void> wait_recovery(std::string what);

  /// Waits until there is an owner that may be hit, and chooses one at random.
  boost::asio::awaitable<int> choose_owner();
  boost::asio::awaitable<int> find_planner();
  void kill(int index, const std::string& what);
  // These end the faults, beside other faults.
  boost::asio::awaitable<void> resume_later(int index, duration pause);
  boost::asio::awaitable<void> start_after_end(int index, duration pause);
  boost::asio::awaitable<void> heal_later(int server);
  boost::asio::awaitable<void> start_broker_later(duration pause);
  void go_on_beside(boost::asio::awaitable<void> rest);
  duration up_to(duration most);

  boost::asio::awaitable<void> wait_settled();

  shard_source_ptr messages_;
  shard_observer observer_;
  shard_summary summary_;
  std::set<int> hit_;  // processes that are down, paused or on their way out
  int beside_ = 0;     // faults that have not ended
  int last_cut_ = 0;
  bool is_broker_away_ = false;  // until all of it answers again
  bool has_incident_ = false;
  bool is_settled_ = false;
};

}  // namespace demo
