// All waiters of a session for changes of nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/link.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

// One waiter for a change of a node. A watch fires once and is only a hint: the waiter has to read the node again.

enum class watch_kind { data, children };

class watch;
class watch_registry;
/// By paths, which stand inside their watches.
using watch_map = std::multimap<std::pair<std::string_view, watch_kind>, watch*>;

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
  watch_map::iterator place_;                                 // among the waiters, until it has fired
  std::optional<std::list<watch*>::iterator> refused_place_;  // the request was answered and has set no watch
  std::optional<node_mark> known_;                            // what the server said when it set the watch
};

/// Knows each `watch` of a session, and which nodes the server watches for them.
///
/// No waiter trusts in an event alone. A server takes a one-time watch away without a word if the session may not read
/// the node at the moment of the event, and it sets none for a request that it refuses. So the session probes the nodes
/// that are waited for in turn, and lets those waiters look again that know something else or have no watch.
class watch_registry {
 public:
  /// `forget` is called when the last waiter for a node has gone and the server may still watch the node. It has to
  /// remove the server's watch.
  explicit watch_registry(std::function<void(watch_kind, const std::string&)> forget) : forget_(std::move(forget)) {}

  /// A request that sets a watch has been sent. Until its answer comes the server has no watch that could be removed.
  void asked(watch_kind kind, const std::string& path) { asked_.emplace(asked_key(kind, path), false); }
  /// That request was answered; the server watches the node now and has said `seen` of it, or it watches nothing.
  /// Events and answers have to be reported in the order in which the server gave them.
  void answered(watch_kind kind, const std::string& path, const std::optional<node_mark>& seen);

  /// To be called at each heartbeat: some waiters without a watch fire. Returns the paths to probe until the next
  /// heartbeat: an eighth of all that are waited for, at least one and at most 64.
  std::vector<std::string> next_probes();
  /// Whether a waiter for a change of this node knows another state than `there`.
  bool is_untold(const std::string& path, const node_mark& there) const;
  /// A probe has seen `there`: watches whose waiters know another state fire.
  void probed(const std::string& path, const node_mark& there);

  void fired(backend::change what, const std::string& path);
  /// The connection is lost, and with it the server's watches: all watches fire, so that each waiter reads again.
  void connection_lost();
  std::size_t size() const noexcept { return waiting_.size(); }
  void stop() { forget_ = nullptr; }

 private:
  friend class watch;
  using key = watch_map::key_type;
  void notify(const key& which, bool deleted);
  void notify_one(watch& who, bool deleted);
  void probed(watch_kind kind, const std::string& path, const node_mark& there);
  static bool knows_else(const watch& who, const node_mark& there);
  void remember_refused(watch& who);
  void forget_refused(watch& who);
  void look_again_refused();
  void leave(watch& who);
  void hand_on(watch_kind kind, const std::string& path);

  // If the server watches a node, this is noted in one waiter for it (`is_set_`), or else in one request in flight (the
  // bool in `asked_`). When that one ends it hands the note on. After the last one the server's watch is removed.
  std::function<void(watch_kind, const std::string&)> forget_;
  watch_map waiting_;
  using asked_key = std::pair<watch_kind, std::string>;
  std::multimap<asked_key, bool> asked_;
  std::list<watch*> refused_;  // the waiters without a watch: no event will come
  std::string last_probed_;    // the probes go on behind this path
};

}  // namespace zkrecipes::detail
