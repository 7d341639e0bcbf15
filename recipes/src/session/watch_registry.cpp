#include "session/watch_registry.hpp"

namespace zkrecipes::detail {

void watch_registry::fired(backend::change what, const std::string& path) {
  const bool deleted = what == backend::change::deleted;
  if (what != backend::change::children) tell({watch_kind::data, path}, deleted);
  if (what == backend::change::children || deleted) tell({watch_kind::children, path}, deleted);
}

void watch_registry::tell(const key& which, bool deleted) {
  auto [begin, end] = waiting_.equal_range(which);
  for (auto it = begin; it != end; ++it) {
    it->second->fired_ = true;
    it->second->deleted_ = deleted;
    it->second->tell_.notify();
  }
  waiting_.erase(begin, end);
  auto [first, last] = asked_.equal_range({which.first, std::string(which.second)});
  for (auto it = first; it != last; ++it) it->second = false;  // these set theirs when they are answered
}

void watch_registry::connection_lost() {
  asked_.clear();
  while (!waiting_.empty()) tell(key(waiting_.begin()->first), false);
}

void watch_registry::leave(watch& who) {
  const key which(who.kind_, who.path_);
  auto [begin, end] = waiting_.equal_range(which);
  for (auto it = begin; it != end; ++it) {
    if (it->second != &who) continue;
    waiting_.erase(it);
    break;
  }
  const bool is_last = !waiting_.contains(which);
  if (is_last && who.let_go_) {
    if (auto request = asked_.find({who.kind_, who.path_}); request != asked_.end()) asked_.erase(request);
  } else if (who.is_set_) {
    hand_on(who.kind_, who.path_);
  }
}

void watch_registry::answered(watch_kind kind, const std::string& path, bool is_set) {
  auto request = asked_.find({kind, path});
  if (request == asked_.end()) return;
  const bool was_set = request->second;
  asked_.erase(request);
  if (is_set || was_set) hand_on(kind, path);
}

void watch_registry::hand_on(watch_kind kind, const std::string& path) {
  if (auto heir = waiting_.find({kind, path}); heir != waiting_.end()) {
    heir->second->is_set_ = true;
  } else if (auto request = asked_.find({kind, path}); request != asked_.end()) {
    request->second = true;
  } else if (forget_) {
    forget_(kind, path);
  }
}

}  // namespace zkrecipes::detail
