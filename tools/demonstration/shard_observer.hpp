// Watches the shard group from outside: who is in it, who owns what, and what is still to be consumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/consumer/shard_group.hpp>

#include "shard_source.hpp"

namespace demo {

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

}  // namespace demo
