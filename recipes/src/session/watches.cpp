#include "session/watches.hpp"

namespace zkrecipes::detail {

watch::watch(std::shared_ptr<watch_registry> registry, watch_kind kind, std::string path, condition& tell)
    : registry_(std::move(registry)), kind_(kind), path_(std::move(path)), tell_(tell) {
  registry_->waiting_.emplace(watch_registry::key(kind_, path_), this);
}

watch::~watch() {
  if (!fired_) registry_->leave(*this);
}

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
  const std::pair of(which.first, std::string(which.second));
  set_.erase(of);
  auto [first, last] = asked_.equal_range(of);
  for (auto it = first; it != last; ++it) {
    if (it->second == fate::single) it->second = fate::is_over;
  }
}

void watch_registry::asked(watch_kind kind, const std::string& path) {
  const std::pair of(kind, path);
  const bool is_only = !set_.contains(of) && !asked_.contains(of);
  asked_.emplace(of, is_only ? fate::single : fate::open);
}

void watch_registry::connection_lost() {
  while (!waiting_.empty()) tell(key(waiting_.begin()->first), false);
  set_.clear();
}

void watch_registry::leave(watch& who) {
  const key which(who.kind_, who.path_);
  auto [begin, end] = waiting_.equal_range(which);
  for (auto it = begin; it != end; ++it) {
    if (it->second != &who) continue;
    waiting_.erase(it);
    break;
  }
  if (!who.let_go_) return forget_unless_wanted(who.kind_, who.path_);
  if (auto request = asked_.find({who.kind_, who.path_}); request != asked_.end()) asked_.erase(request);
}

void watch_registry::answered(watch_kind kind, const std::string& path) {
  auto request = asked_.lower_bound({kind, path});
  if (request == asked_.end() || request->first != std::pair(kind, path)) return;
  const bool is_over = request->second == fate::is_over;
  asked_.erase(request);
  if (is_over) return;
  set_.emplace(kind, path);
  forget_unless_wanted(kind, path);
}

void watch_registry::forget_unless_wanted(watch_kind kind, const std::string& path) {
  if (!forget_ || waiting_.contains({kind, path}) || asked_.contains({kind, path})) return;
  set_.erase({kind, path});
  forget_(kind, path);
}

}  // namespace zkrecipes::detail
