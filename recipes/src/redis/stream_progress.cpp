#include "redis/stream_progress.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::size_t least_thinned = 256;

stream_id id_behind(const stream_id& which) {
  const bool is_last = which.sequence == std::numeric_limits<std::uint64_t>::max();
  return is_last ? stream_id{which.ms + 1, 0} : stream_id{which.ms, which.sequence + 1};
}

}  // namespace

stream_progress::stream_progress(stream_position stored) : stored_(std::move(stored)), known_end_(stored_.farthest()) {
  if (!stored_.failed.empty()) known_end_ = std::max(known_end_, stored_.failed.rbegin()->first);
}

bool stream_progress::open(const stream_id& which) {
  const auto last_read = open_.empty() ? stored_.last : open_.back().id;
  if (which <= last_read) return false;
  const bool is_settled = stored_.is_settled(which);
  pass_stored(which);
  open_.push_back({which, false});
  if (is_settled) on_settled(std::prev(open_.end()));
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

stream_progress::entries::iterator stream_progress::find(const stream_id& which) {
  if (!open_.empty() && open_.front().id == which) return open_.begin();  // as it is where the order is strict
  const auto found = std::ranges::lower_bound(open_, which, {}, &entry::id);
  return found != open_.end() && found->id == which ? found : open_.end();
}

bool stream_progress::is_settled(const stream_id& which) const {
  if (stored_.is_settled(which)) return true;
  const auto found = std::ranges::lower_bound(open_, which, {}, &entry::id);
  if (found == open_.end() || !found->is_settled) return false;
  return found->id == which || (found != open_.begin() && std::prev(found)->is_settled);
}

void stream_progress::settle(const stream_id& which) {
  if (!stored_.failed.empty()) stored_.failed.erase(which);
  const auto found = find(which);
  if (found == open_.end() || found->is_settled) return;
  on_settled(found);
  move_on();
}

void stream_progress::on_settled(entries::iterator which) {
  which->is_settled = true;
  ++settled_count_;
  const auto next = std::next(which);
  const bool follows = which != open_.begin() && std::prev(which)->is_settled;
  const bool is_followed = next != open_.end() && next->is_settled;
  if (!follows && !is_followed) ++runs_;
  if (follows && is_followed) --runs_;
}

void stream_progress::fail(const stream_id& which, std::int64_t since) { count_failure(stored_.failed, which, since); }

failed_attempts stream_progress::failed(const stream_id& which) const {
  const auto found = stored_.failed.find(which);
  return found == stored_.failed.end() ? failed_attempts() : found->second;
}

void stream_progress::move_on() {
  if (!open_.empty() && open_.front().is_settled) --runs_;
  while (!open_.empty() && open_.front().is_settled) {
    stored_.last = open_.front().id;
    open_.pop_front();
    --settled_count_;
  }
  stored_.failed.erase(stored_.failed.begin(), stored_.failed.upper_bound(stored_.last));
  // So rarely that each entry that goes has paid for the walk.
  if (settled_count_ > 2 * runs_ + open_.size() / 2 + least_thinned) thin_out();
}

/// Keeps the first and the last entry of each run.
void stream_progress::thin_out() {
  auto to = open_.begin();
  bool follows = false;
  for (auto each = open_.begin(); each != open_.end(); ++each) {
    const auto next = std::next(each);
    const bool is_inner = follows && each->is_settled && next != open_.end() && next->is_settled;
    follows = each->is_settled;
    if (is_inner) --settled_count_;
    if (!is_inner) *to++ = *each;
  }
  open_.erase(to, open_.end());
}

stream_id stream_progress::farthest() const {
  const auto read = open_.empty() ? stream_id() : open_.back().id;
  return std::max(stored_.farthest(), read);
}

void stream_progress::fall_back(const stream_id& end) {
  open_.clear();
  settled_count_ = runs_ = 0;
  std::erase_if(stored_.ahead, [&end](const auto& each) { return each.first > end; });
  for (auto& [first, last] : stored_.ahead) last = std::min(last, end);
  stored_.last = std::min(stored_.last, end);
  known_end_ = std::min(known_end_, end);
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
