#include "topic/log_progress.hpp"

#include <algorithm>

namespace zkrecipes::detail {

void log_progress::open(std::int32_t batch, std::uint32_t count) {
  part added{count, {}};
  const auto some = stored_.messages.find(batch);
  if (some != stored_.messages.end()) added.settled = std::move(some->second);
  if (some != stored_.messages.end()) stored_.messages.erase(some);
  const bool is_next = stored_.next && stored_.next->batch == batch;
  for (std::uint32_t i = 0; is_next && i < std::min(stored_.next->index, count); ++i) added.settled.add(i);
  const bool is_done = added.settled.first_missing(0) >= count;
  opened_ = batch;
  if (!is_done) {
    open_.emplace(batch, std::move(added));
  } else {
    finished_.push_back(batch);
    stored_.batches.add(batch);
  }
  move_on();
}

void log_progress::pass_over(std::int32_t batch) {
  open_.erase(batch);
  stored_.messages.erase(batch);
  std::erase_if(stored_.failed, [batch](const auto& each) { return each.first.batch == batch; });
  if (!opened_ || *opened_ < batch) opened_ = batch;
  stored_.batches.add(batch);
  move_on();
}

bool log_progress::is_settled(const message_place& which) const {
  const auto found = open_.find(which.batch);
  return found != open_.end() ? found->second.settled.contains(which.index) : stored_.is_settled(which);
}

void log_progress::settle(const message_place& which) {
  stored_.failed.erase(which);
  const auto found = open_.find(which.batch);
  if (found == open_.end() || !found->second.settled.add(which.index)) return;
  if (found->second.settled.first_missing(0) < found->second.count) return;
  open_.erase(found);
  finished_.push_back(which.batch);
  stored_.batches.add(which.batch);
  move_on();
}

void log_progress::fail(const message_place& which, std::int64_t since) { count_failure(stored_.failed, which, since); }

bool log_progress::is_far_ahead() const {
  auto ranges = stored_.batches.all().size();
  for (const auto& [batch, each] : stored_.messages) ranges += each.all().size();
  for (const auto& [batch, each] : open_) ranges += each.settled.all().size();
  return ranges >= most_ranges;
}

bool log_progress::has_settled_behind(const message_place& which) const {
  const auto is_behind = [&](std::int32_t batch, const indexes& some) {
    return !some.empty() && which < message_place{batch, some.all().rbegin()->second};
  };
  if (!stored_.batches.empty() && stored_.batches.all().rbegin()->second > which.batch) return true;
  const auto& parts = stored_.messages;
  if (!parts.empty() && is_behind(parts.rbegin()->first, parts.rbegin()->second)) return true;
  return std::any_of(open_.lower_bound(which.batch), open_.end(),
                     [&](const auto& each) { return is_behind(each.first, each.second.settled); });
}

failed_attempts log_progress::failed(const message_place& which) const {
  const auto found = stored_.failed.find(which);
  return found == stored_.failed.end() ? failed_attempts() : found->second;
}

/// Forgets what is settled behind the first open batch, or behind all that were opened if none is open.
void log_progress::move_on() {
  if (!opened_) return;
  const auto next = open_.empty() ? *opened_ + 1 : open_.begin()->first;
  if (!stored_.next || stored_.next->batch < next) stored_.next = message_place{next, 0};
  stored_.batches.erase_below(next);
  stored_.messages.erase(stored_.messages.begin(), stored_.messages.lower_bound(next));
  stored_.failed.erase(stored_.failed.begin(), stored_.failed.lower_bound(message_place{next, 0}));
}

log_position log_progress::position() const {
  auto all = stored_;
  for (const auto& [batch, each] : open_) {
    const bool is_next = all.next && all.next->batch == batch;
    auto some = each.settled;
    if (is_next) all.next->index = some.first_missing(0);
    if (is_next) some.erase_below(all.next->index);
    if (!some.empty()) all.messages[batch] = std::move(some);
  }
  return all;
}

}  // namespace zkrecipes::detail
