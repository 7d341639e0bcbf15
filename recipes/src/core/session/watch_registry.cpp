#include "session/watch_registry.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

watch::watch(std::shared_ptr<watch_registry> registry, watch_kind kind, std::string path, condition& changed)
    : registry_(std::move(registry)), kind_(kind), path_(std::move(path)), changed_(changed) {
  place_ = registry_->waiting_.emplace(watch_registry::key(path_, kind_), this);
}

watch::~watch() {
  if (!fired_) registry_->leave(*this);
}

namespace {

constexpr std::size_t heartbeats_a_round = 8;  // so long it takes to probe all, if they are few enough
constexpr std::size_t most_at_once = 64;

constexpr watch_kind both_kinds[] = {watch_kind::data, watch_kind::children};

}  // namespace

void watch_registry::fired(backend::change what, const std::string& path) {
  const bool deleted = what == backend::change::deleted;
  if (what != backend::change::children) notify({path, watch_kind::data}, deleted);
  if (what == backend::change::children || deleted) notify({path, watch_kind::children}, deleted);
}

void watch_registry::notify_one(watch& who, bool deleted) {
  who.fired_ = true;
  who.deleted_ = deleted;
  forget_refused(who);
  who.changed_.notify();
}

void watch_registry::notify(const key& which, bool deleted) {
  auto [begin, end] = waiting_.equal_range(which);
  for (auto it = begin; it != end; ++it) notify_one(*it->second, deleted);
  waiting_.erase(begin, end);
  auto [first, last] = asked_.equal_range({which.second, std::string(which.first)});
  for (auto it = first; it != last; ++it) it->second = false;  // these set theirs when they are answered
}

void watch_registry::connection_lost() {
  asked_.clear();
  while (!waiting_.empty()) notify_one(*waiting_.extract(waiting_.begin()).mapped(), false);
}

void watch_registry::leave(watch& who) {
  forget_refused(who);
  waiting_.erase(who.place_);
  const bool is_last = !waiting_.contains({who.path_, who.kind_});
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
    if (who.known_ || (!seen && who.refused_place_)) break;
    who.known_ = seen;
    seen ? forget_refused(who) : remember_refused(who);
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

void watch_registry::remember_refused(watch& who) {
  if (!who.refused_place_) who.refused_place_ = refused_.insert(refused_.end(), &who);
}

void watch_registry::forget_refused(watch& who) {
  if (const auto place = std::exchange(who.refused_place_, std::nullopt)) refused_.erase(*place);
}

void watch_registry::look_again_refused() {
  for (auto left = std::min(refused_.size(), most_at_once); left > 0; --left) {
    auto& first = *refused_.front();
    leave(first);
    notify_one(first, false);
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

bool watch_registry::knows_else(const watch& who, const node_mark& there) {
  if (!who.known_) return false;
  const bool is_unchanged =
      who.kind_ == watch_kind::data ? who.known_->mzxid == there.mzxid : who.known_->pzxid == there.pzxid;
  return who.known_->exists != there.exists || !is_unchanged;
}

bool watch_registry::is_untold(const std::string& path, const node_mark& there) const {
  return std::ranges::any_of(both_kinds, [&](watch_kind kind) {
    const auto [begin, end] = waiting_.equal_range({path, kind});
    return std::any_of(begin, end, [&](const auto& each) { return knows_else(*each.second, there); });
  });
}

void watch_registry::probed(const std::string& path, const node_mark& there) {
  for (const auto kind : both_kinds) probed(kind, path, there);
}

void watch_registry::probed(watch_kind kind, const std::string& path, const node_mark& there) {
  bool was_set = false;
  auto [next, end] = waiting_.equal_range({path, kind});
  while (next != end) {
    auto& who = *next->second;
    if (!knows_else(who, there)) {
      ++next;
      continue;
    }
    next = waiting_.erase(next);
    notify_one(who, !there.exists);
    was_set = was_set || who.is_set_;
  }
  if (was_set) hand_on(kind, path);
}

}  // namespace zkrecipes::detail
