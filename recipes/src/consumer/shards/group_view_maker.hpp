// The meaning of a shard group's nodes.
#pragma once

#include <cstdint>
#include <string>

#include <zkrecipes/consumer/shard_group_view.hpp>
#include <zkrecipes/node.hpp>

#include "shards/group_layout.hpp"

namespace zkrecipes::detail {

/// What the record of a shard says. A record that can not be understood says nothing.
shard_view view_of_shard(std::uint32_t number, const std::string& data, const node_stat& stat);

/// Makes the view of a group of its nodes, which may come in any order, but for the shards: first. Pure.
class group_view_maker {
 public:
  group_view_maker(const group_size& size, bool is_frozen);

  /// `shard.number` must be below the number of shards.
  void set_shard(shard_view shard);
  void add_member(const std::string& node, const std::string& data, const node_stat& stat);
  void add_away(const std::string& data, const node_stat& stat);
  /// `name`: of its node.
  void add_quarantine(const std::string& name, const std::string& data);
  /// One of an operator.
  void add_note(const std::string& name, const std::string& data) { notes_.add(name, data); }
  shard_group_view finish();

 private:
  shard_group_view view_;
  operator_notes notes_;
};

}  // namespace zkrecipes::detail
