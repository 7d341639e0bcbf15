#include "session/watch_registry.hpp"

#include <algorithm>

namespace zkrecipes::detail {

namespace {

constexpr std::size_t heartbeats_a_round = 8;  // so long it takes to probe all, if they are few enough
constexpr std::size_t most_at_once = 64;

bool is_same(watch_kind kind, const node_mark& a, const node_mark& b) {
  const bool is_unchanged = kind == watch_kind::data ? a.mzxid == b.mzxid : a.pzxid == b.pzxid;
  return a.exists == b.exists && is_unchanged;
}

}  // namespace

void watch_registry::fired(backend::change what, const std::string& path) {
  const bool deleted = what == backend::change::deleted;
  if (what != backend::change::children) tell({path, watch_kind::data}, deleted);
  if (what == backend::change::children || deleted) tell({path, watch_kind::children}, deleted);
}

void watch_registry::tell_one(watch& who, bool deleted) {
  who.fired_ = true;
  who.deleted_ = deleted;
  forget_refused(who);
  who.tell_.notify();
}

void watch_registry::tell(const key& which, bool deleted) {
  auto [begin, end] = waiting_.equal_range(which);
  for (auto it = begin; it != end; ++it) tell_one(*it->second, deleted);
  waiting_.erase(begin, end);
  auto [first, last] = asked_.equal_range({which.second, std::string(which.first)});
  for (auto it = first; it != last; ++it) it->second = false;  // these set theirs when they are answered
}

void watch_registry::connection_lost() {
  asked_.clear();
  while (!waiting_.empty()) tell(key(waiting_.begin()->first), false);
}

void watch_registry::leave(watch& who) {
  forget_refused(who);
  const key which(who.path_, who.kind_);
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

void watch_registry::answered(watch_kind kind, const std::string& path, const std::optional<node_mark>& seen) {
  auto request = asked_.find({kind, path});
  if (request == asked_.end()) return;
  const bool was_set = request->second;
  asked_.erase(request);
  const auto [begin, end] = waiting_.equal_range({path, kind});
  for (auto it = end; it != begin;) {  // those who came last know nothing yet
    auto& who = *(--it)->second;
    if (who.known_ || (!seen && who.is_refused_)) break;
    who.known_ = seen;
    seen ? forget_refused(who) : note_refused(who);
  }
  if (seen || was_set) hand_on(kind, path);
}

void watch_registry::hand_on(watch_kind kind, const std::string& path) {
  if (auto heir = waiting_.find({path, kind}); heir != waiting_.end()) {
    heir->second->is_set_ = true;
  } else if (auto request = asked_.find({kind, path}); request != asked_.end()) {
    request->second = true;
  } else if (forget_) {
    forget_(kind, path);
  }
}

void watch_registry::note_refused(watch& who) {
  if (!std::exchange(who.is_refused_, true)) refused_.push_back(&who);
}

void watch_registry::forget_refused(watch& who) {
  if (std::exchange(who.is_refused_, false)) std::erase(refused_, &who);
}

void watch_registry::look_again_refused() {
  for (auto left = std::min(refused_.size(), most_at_once); left > 0; --left) {
    auto& first = *refused_.front();
    leave(first);
    tell_one(first, false);
  }
}

std::vector<std::string> watch_registry::next_probes() {
  look_again_refused();
  const auto most =
      std::clamp((waiting_.size() + heartbeats_a_round - 1) / heartbeats_a_round, std::size_t{1}, most_at_once);
  std::vector<std::string> paths;
  auto next = waiting_.upper_bound({last_probed_, watch_kind::children});
  for (auto left = waiting_.size(); left > 0 && paths.size() < most; --left, ++next) {
    if (next == waiting_.end()) next = waiting_.begin();
    const auto& path = next->second->path();
    if (next->second->known_ && (paths.empty() || paths.back() != path)) paths.push_back(path);
  }
  if (!paths.empty()) last_probed_ = paths.back();
  return paths;
}

bool watch_registry::probed(const std::string& path, const node_mark& there) {
  const bool is_data_late = probed(watch_kind::data, path, there);
  const bool is_list_late = probed(watch_kind::children, path, there);
  return is_data_late || is_list_late;
}

bool watch_registry::probed(watch_kind kind, const std::string& path, const node_mark& there) {
  bool is_late = false;
  bool was_set = false;
  auto [next, end] = waiting_.equal_range({path, kind});
  while (next != end) {
    auto& who = *next->second;
    const bool is_up_to_date = !who.known_ || is_same(kind, *who.known_, there);
    if (is_up_to_date) {
      ++next;
      continue;
    }
    next = waiting_.erase(next);
    tell_one(who, !there.exists);
    is_late = true;
    was_set = was_set || who.is_set_;
  }
  if (was_set) hand_on(kind, path);
  return is_late;
}

}  // namespace zkrecipes::detail
