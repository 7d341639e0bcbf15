// Who waits for a change of which node. A watch is a hint, told once: look again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "backend/backend.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

enum class watch_kind { data, children };

class watch_registry;

/// One waiter's interest. It ends with the object; the last one of a node takes the server's watch away.
class watch {
 public:
  watch(std::shared_ptr<watch_registry> registry, watch_kind kind, std::string path, condition& tell);
  watch(const watch&) = delete;
  watch& operator=(const watch&) = delete;
  ~watch();

  const std::string& path() const noexcept { return path_; }
  bool fired() const noexcept { return fired_; }
  /// The node is known to have been deleted; false for every other change and where the connection broke.
  bool deleted() const noexcept { return deleted_; }
  /// The event that ends it is on its way: nothing has to be taken away.
  void let_go() noexcept { let_go_ = true; }

 private:
  friend class watch_registry;
  std::shared_ptr<watch_registry> registry_;
  watch_kind kind_;
  std::string path_;
  condition& tell_;
  bool fired_ = false;
  bool deleted_ = false;
  bool let_go_ = false;
  bool is_set_ = false;
};

class watch_registry {
 public:
  /// `forget` is called when nobody waits any more for something that the server may still watch.
  explicit watch_registry(std::function<void(watch_kind, const std::string&)> forget) : forget_(std::move(forget)) {}

  /// A request that sets a watch is on its way: before its answer there is none that could be taken away.
  void asked(watch_kind kind, const std::string& path) { asked_.emplace(asked_key(kind, path), false); }
  /// `is_set`: the server watches now. Events and answers are told in the order in which the server gave them.
  void answered(watch_kind kind, const std::string& path, bool is_set);

  void fired(backend::change what, const std::string& path);
  /// The connection is gone and the server's watches with it: everybody has to look again.
  void connection_lost();
  std::size_t size() const noexcept { return waiting_.size(); }
  void stop() { forget_ = nullptr; }

 private:
  friend class watch;
  using key = std::pair<watch_kind, std::string_view>;
  void tell(const key& which, bool deleted);
  void leave(watch& who);
  void hand_on(watch_kind kind, const std::string& path);

  // That the server watches a node is noted with somebody who waits for it, or else with a request on its way: whoever ends
  // hands the note on, and with the last one the server's watch is taken away.
  std::function<void(watch_kind, const std::string&)> forget_;
  std::multimap<key, watch*> waiting_;  // paths are those of the watches themselves
  using asked_key = std::pair<watch_kind, std::string>;
  std::multimap<asked_key, bool> asked_;
};

}  // namespace zkrecipes::detail
