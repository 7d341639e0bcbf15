// What one look at a node differs from the look before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/node.hpp>

namespace zkadmin {

struct node_change {
  enum class kind { absent, present, created, changed, deleted, children, disconnected, reconnected };

  kind what;
  std::optional<zkrecipes::node_stat> stat{};
  std::optional<std::string> data{};
  std::vector<std::string> added{};  ///< Sorted, as `removed`.
  std::vector<std::string> removed{};
  /// How many changes of the same sort were between the two looks, besides what is told; nothing: that is not known.
  std::optional<std::int64_t> unseen{0};
};

const char* to_string(node_change::kind what) noexcept;

/// Whether something has happened to the node. The others tell where the watch begins, and how the connection is.
bool is_change(const node_change& change) noexcept;

/// The state of a node at the last look. Versions tell how many changes no look has seen; a new creator tells that the
/// node was deleted in between.
class node_memory {
 public:
  bool exists() const noexcept { return stat_.has_value(); }
  /// As the operations of a session that wait for a change take them.
  std::int64_t mzxid() const noexcept { return stat_ ? stat_->mzxid : 0; }
  std::int64_t pzxid() const noexcept { return pzxid_; }

  /// The first look; nothing: the node does not exist.
  node_change begin(const std::optional<zkrecipes::node_data>& node);
  /// The children at the first look.
  void begin_children(zkrecipes::node_children children);

  std::vector<node_change> on_data(const zkrecipes::node_data& node);
  std::vector<node_change> on_children(zkrecipes::node_children children);
  std::vector<node_change> on_gone();

 private:
  void remember(const zkrecipes::node_stat& stat);

  std::optional<zkrecipes::node_stat> stat_;
  std::int64_t pzxid_ = 0;
  std::int32_t cversion_ = 0;
  std::vector<std::string> names_;
};

}  // namespace zkadmin
