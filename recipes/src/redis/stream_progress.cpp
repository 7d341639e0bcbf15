#include "redis/stream_progress.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace zkrecipes::detail {

namespace {

stream_id id_behind(const stream_id& which) {
  const bool is_last = which.sequence == std::numeric_limits<std::uint64_t>::max();
  return is_last ? stream_id{which.ms + 1, 0} : stream_id{which.ms, which.sequence + 1};
}

}  // namespace

bool stream_progress::open(const stream_id& which) {
  const auto last_read = open_.empty() ? stored_.last : open_.back().id;
  if (which <= last_read) return false;
  const bool is_settled = stored_.is_settled(which);
  pass_stored(which);
  open_.push_back({which, is_settled});
  if (is_settled) ++settled_count_;
  move_on();
  return !is_settled;
}

/// Ranges that were stored and are read now are among the open entries, and not in `ahead` any more.
void stream_progress::pass_stored(const stream_id& which) {
  auto& ahead = stored_.ahead;
  while (!ahead.empty() && ahead.begin()->first <= which) {
    const auto end = ahead.begin()->second;
    ahead.erase(ahead.begin());
    if (end > which) ahead.emplace(id_behind(which), end);
  }
}

std::deque<stream_progress::entry>::iterator stream_progress::find(const stream_id& which) {
  const auto found = std::ranges::lower_bound(open_, which, {}, &entry::id);
  return found != open_.end() && found->id == which ? found : open_.end();
}

bool stream_progress::is_settled(const stream_id& which) const {
  if (stored_.is_settled(which)) return true;
  const auto found = std::ranges::lower_bound(open_, which, {}, &entry::id);
  return found != open_.end() && found->id == which && found->is_settled;
}

void stream_progress::settle(const stream_id& which) {
  if (!stored_.failed.empty()) stored_.failed.erase(which);
  const auto found = find(which);
  if (found == open_.end() || std::exchange(found->is_settled, true)) return;
  ++settled_count_;
  move_on();
}

void stream_progress::fail(const stream_id& which, std::int64_t since) {
  auto& attempts = stored_.failed[which];
  if (attempts.count++ == 0) attempts.since = since;
}

failed_attempts stream_progress::failed(const stream_id& which) const {
  const auto found = stored_.failed.find(which);
  return found == stored_.failed.end() ? failed_attempts() : found->second;
}

void stream_progress::move_on() {
  while (!open_.empty() && open_.front().is_settled) {
    stored_.last = open_.front().id;
    open_.pop_front();
    --settled_count_;
  }
  stored_.failed.erase(stored_.failed.begin(), stored_.failed.upper_bound(stored_.last));
}

stream_id stream_progress::farthest() const {
  const auto read = open_.empty() ? stream_id() : open_.back().id;
  return std::max(stored_.farthest(), read);
}

void stream_progress::fall_back(const stream_id& end) {
  open_.clear();
  settled_count_ = 0;
  std::erase_if(stored_.ahead, [&end](const auto& each) { return each.first > end; });
  for (auto& [first, last] : stored_.ahead) last = std::min(last, end);
  stored_.last = std::min(stored_.last, end);
  stored_.failed.erase(stored_.failed.upper_bound(end), stored_.failed.end());
}

/// Settled entries that follow each other make a range.
stream_position stream_progress::position() const {
  auto all = stored_;
  auto range = all.ahead.end();
  auto left = settled_count_;
  for (auto each = open_.begin(); left > 0; ++each) {
    if (!each->is_settled) {
      range = all.ahead.end();
    } else if (--left; range == all.ahead.end()) {
      range = all.ahead.emplace(each->id, each->id).first;
    } else {
      range->second = each->id;
    }
  }
  return all;
}

}  // namespace zkrecipes::detail
