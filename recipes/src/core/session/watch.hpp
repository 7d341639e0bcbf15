// One waiter for a change of a node. A watch fires once and is only a hint: the waiter has to read the node again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "session/condition.hpp"

namespace zkrecipes::detail {

enum class watch_kind { data, children };

class watch_registry;

/// What tells whether a node has changed in a way of which a watch tells. A node that was made again has other numbers.
struct node_mark {
  bool exists = false;
  std::int64_t mzxid = 0;
  std::int64_t pzxid = 0;
};

/// One waiter's interest in a node. It ends with the object. When the last one of a node ends, the server's watch is
/// removed.
class watch {
 public:
  watch(std::shared_ptr<watch_registry> registry, watch_kind kind, std::string path, condition& changed);
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
  ~watch();

  const std::string& path() const noexcept { return path_; }
  bool fired() const noexcept { return fired_; }
  /// True if the event said that the node was deleted; false for every other change, and if the connection broke.
  bool deleted() const noexcept { return deleted_; }
  /// The event that ends the server's watch is on its way, so this object need not remove the server's watch.
  void let_go() noexcept { let_go_ = true; }

 private:
  friend class watch_registry;
  std::shared_ptr<watch_registry> registry_;
  watch_kind kind_;
  std::string path_;
  condition& changed_;
  bool fired_ = false;
  bool deleted_ = false;
  bool let_go_ = false;
  bool is_set_ = false;
  bool is_refused_ = false;         // the request was answered and has set no watch: no event will come
  std::optional<node_mark> known_;  // what the server said when it set the watch
};

}  // namespace zkrecipes::detail
