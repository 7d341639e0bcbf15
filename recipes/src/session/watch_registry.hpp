// All waiters of a session for changes of nodes.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "backend/watch_event.hpp"
#include "session/watch.hpp"

namespace zkrecipes::detail {

/// Knows each `watch` of a session, and which nodes the server watches for them.
class watch_registry {
 public:
  /// `forget` is called when the last waiter for a node has gone and the server may still watch the node. It has to
  /// remove the server's watch.
  explicit watch_registry(std::function<void(watch_kind, const std::string&)> forget) : forget_(std::move(forget)) {}

  /// A request that sets a watch has been sent. Until its answer comes the server has no watch that could be removed.
  void asked(watch_kind kind, const std::string& path) { asked_.emplace(asked_key(kind, path), false); }
  /// That request was answered; `is_set`: the server watches the node now. Events and answers have to be reported in
  /// the order in which the server gave them.
  void answered(watch_kind kind, const std::string& path, bool is_set);

  void fired(backend::change what, const std::string& path);
  /// The connection is lost, and with it the server's watches: all watches fire, so that each waiter reads again.
  void connection_lost();
  std::size_t size() const noexcept { return waiting_.size(); }
  void stop() { forget_ = nullptr; }

 private:
  friend class watch;
  using key = std::pair<watch_kind, std::string_view>;
  void tell(const key& which, bool deleted);
  void leave(watch& who);
  void hand_on(watch_kind kind, const std::string& path);

  // If the server watches a node, this is noted in one waiter for it (`is_set_`), or else in one request in flight (the
  // bool in `asked_`). When that one ends it hands the note on. After the last one the server's watch is removed.
  std::function<void(watch_kind, const std::string&)> forget_;
  std::multimap<key, watch*> waiting_;  // a key refers to the path inside its watch
  using asked_key = std::pair<watch_kind, std::string>;
  std::multimap<asked_key, bool> asked_;
};

}  // namespace zkrecipes::detail
