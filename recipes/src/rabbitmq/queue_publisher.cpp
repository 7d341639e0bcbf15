#include "rabbitmq/queue_publisher.hpp"

namespace zkrecipes::detail {

bool queue_publisher::has_room(std::size_t bytes) const noexcept {
  return messages_.empty() || (messages_.size() < most_messages && bytes_ + bytes <= most_bytes);
}

std::uint64_t queue_publisher::add(std::uint32_t shard, std::size_t bytes) {
  const auto place = ++places_;
  messages_[place] = {shard, bytes, false};
  bytes_ += bytes;
  auto& of = lines_[shard];
  if (!of.is_declared) undeclared_.insert(shard);
  of.waiting.insert(place);
  if (of.is_declared && of.is_proven)
    ready_.insert(place);
  else
    admit(of);
  return place;
}

bool queue_publisher::forget(std::uint64_t place) {
  const auto found = messages_.find(place);
  if (found == messages_.end()) return false;
  auto& of = lines_[found->second.shard];
  const bool is_sent = of.waiting.erase(place) == 0;
  if (is_sent) {
    found->second.is_forgotten = true;
    return true;
  }
  ready_.erase(place);
  remove(place);
  admit(of);
  return false;
}

void queue_publisher::clear() {
  messages_.clear();
  bytes_ = 0;
  for (auto& [shard, of] : lines_) of.waiting.clear();
  begin_anew();
}

std::optional<std::uint32_t> queue_publisher::undeclared() const {
  std::optional<std::uint32_t> first;
  std::uint64_t first_place = 0;
  for (const auto shard : undeclared_) {
    const auto& waiting = lines_.at(shard).waiting;
    if (waiting.empty()) continue;
    const auto place = *waiting.begin();
    if (first && place > first_place) continue;
    first = shard;
    first_place = place;
  }
  return first;
}

void queue_publisher::on_declared(std::uint32_t shard) {
  auto& of = lines_[shard];
  of.is_declared = true;
  undeclared_.erase(shard);
  admit(of);
}

std::optional<std::uint64_t> queue_publisher::next(bool is_single) const {
  const bool is_stopped = is_rejected_ || (is_single && !sent_.empty());
  if (is_stopped || ready_.empty()) return std::nullopt;
  return *ready_.begin();
}

void queue_publisher::on_sent(std::uint64_t place, std::uint64_t tag) {
  auto& of = lines_[messages_.at(place).shard];
  of.waiting.erase(place);
  ready_.erase(place);
  ++of.under_way;
  sent_[tag] = place;
}

std::optional<std::uint64_t> queue_publisher::lone() const {
  if (sent_.size() != 1) return std::nullopt;
  const auto place = sent_.begin()->second;
  return messages_.at(place).is_forgotten ? std::nullopt : std::optional(place);
}

/// Tag 0 for many is all of them, as for acknowledgements of a client.
std::vector<std::uint64_t> queue_publisher::confirm(const amqp_confirm& what) {
  const bool is_all = what.is_multiple && what.tag == 0;
  auto from = what.is_multiple ? sent_.begin() : sent_.find(what.tag);
  const auto behind = is_all ? sent_.end() : sent_.upper_bound(what.tag);
  std::vector<std::uint64_t> taken;
  while (from != behind && from != sent_.end()) {
    const auto place = from->second;
    const bool is_awaited = !messages_.at(place).is_forgotten;
    auto& of = answered(place);
    from = sent_.erase(from);
    if (!what.is_taken) {
      is_rejected_ = true;
      wait_again(place);
      continue;
    }
    if (is_awaited) taken.push_back(place);
    remove(place);
    const bool is_first = !of.is_proven;
    of.is_proven = true;
    if (is_first) admit(of);
  }
  return taken;
}

std::optional<std::uint64_t> queue_publisher::take_back(std::uint64_t tag) {
  const auto found = sent_.find(tag);
  if (found == sent_.end()) return std::nullopt;
  const auto place = found->second;
  const bool is_awaited = !messages_.at(place).is_forgotten;
  auto& of = answered(place);
  sent_.erase(found);
  remove(place);
  admit(of);
  return is_awaited ? std::optional(place) : std::nullopt;
}

void queue_publisher::begin_anew() {
  for (const auto& [tag, place] : sent_) {
    if (messages_.contains(place)) wait_again(place);
  }
  sent_.clear();
  ready_.clear();
  is_rejected_ = false;
  for (auto& [shard, of] : lines_) {
    of.is_proven = false;
    of.under_way = 0;
    admit(of);
  }
}

queue_publisher::line& queue_publisher::answered(std::uint64_t place) {
  auto& of = lines_[messages_.at(place).shard];
  --of.under_way;
  return of;
}

void queue_publisher::wait_again(std::uint64_t place) {
  const auto& which = messages_.at(place);
  if (which.is_forgotten) return remove(place);
  lines_[which.shard].waiting.insert(place);
}

void queue_publisher::remove(std::uint64_t place) {
  const auto found = messages_.find(place);
  bytes_ -= found->second.bytes;
  messages_.erase(found);
}

void queue_publisher::admit(const line& of) {
  if (!of.is_declared || of.waiting.empty()) return;
  if (of.is_proven)
    ready_.insert(of.waiting.begin(), of.waiting.end());
  else if (of.under_way == 0)
    ready_.insert(*of.waiting.begin());
}

}  // namespace zkrecipes::detail
