#include "rabbitmq/delivery_tags.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

void delivery_tags::reset() { *this = delivery_tags(prefetch_); }

void delivery_tags::add(const delivery& what) {
  auto [at, is_new] = messages_.try_emplace(what.id);
  auto& whose = at->second;
  const bool may_be_second = !what.is_fresh && (!is_new || !what.is_named);
  if (is_new || may_be_second) {
    whose.round = ++last_round_;
    whose.sent = 0;
  }
  if (!may_be_second) ++counted_;
  whose.tags.push_back(what.tag);
  whose.is_settled = false;
  open_.emplace(what.tag, what.id);
  if (!what.is_fresh) return;
  has_fresh_ = true;
  prove();
}

bool delivery_tags::holds(const std::string& id) const {
  const auto found = messages_.find(id);
  return found != messages_.end() && !found->second.tags.empty() && !found->second.is_settled;
}

std::vector<std::string> delivery_tags::ids() const {
  std::vector<std::string> all;
  for (const auto& [id, each] : messages_) all.push_back(id);
  return all;
}

void delivery_tags::settle(const std::string& id) {
  const auto found = messages_.find(id);
  if (found == messages_.end()) return;
  found->second.is_settled = true;
  settled_.insert(found->second.tags.begin(), found->second.tags.end());
}

/// One that means all before it, as far as all before it are settled, and one for each of the others.
std::vector<delivery_tags::acknowledgement> delivery_tags::take_acknowledgements() {
  std::vector<acknowledgement> all;
  if (settled_.empty()) return all;
  std::vector<std::uint64_t> tags;
  auto end = open_.begin();
  for (; end != open_.end() && settled_.contains(end->first); ++end) tags.push_back(end->first);
  if (!tags.empty()) all.push_back({tags.back(), tags.size() > 1});
  for (auto each = settled_.lower_bound(tags.empty() ? 0 : tags.back() + 1); each != settled_.end(); ++each) {
    tags.push_back(*each);
    all.push_back({*each, false});
  }
  for (const auto each : tags) acknowledge(each);
  settled_.clear();
  return all;
}

void delivery_tags::acknowledge(std::uint64_t tag) {
  const auto found = open_.find(tag);
  auto& whose = messages_.at(found->second);
  std::erase(whose.tags, tag);
  ++whose.sent;
  sent_.push_back({std::move(found->second), whose.round});
  open_.erase(found);
}

void delivery_tags::prove() {
  while (proven_ + prefetch_ < counted_ && !sent_.empty()) prove_first();
}

void delivery_tags::prove_first() {
  const auto first = std::move(sent_.front());
  sent_.pop_front();
  ++proven_;
  const auto found = messages_.find(first.id);
  if (found == messages_.end() || found->second.round != first.round) return;
  --found->second.sent;
  if (found->second.sent > 0 || !found->second.tags.empty()) return;
  messages_.erase(found);
  news_.push_back(first.id);
}

std::vector<std::string> delivery_tags::take_proven() { return std::exchange(news_, {}); }

}  // namespace zkrecipes::detail
