#include "shards/member_health.hpp"

#include <algorithm>
#include <utility>

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t longest_health_reason = 200;
/// Parts of `calm`, and multiples.
constexpr auto part_of_calm = 3;  // tenths: a moment's outage lowers nobody
constexpr auto first_rests = 3;
constexpr auto longest_rests = 60;

}  // namespace

bool member_health::is_troubled() const {
  const auto failed = std::ranges::count_if(has_failed_, [](const auto& each) { return each.second; });
  return 2 * static_cast<std::size_t>(failed) > has_failed_.size();
}

void member_health::forget(std::uint32_t shard) {
  has_failed_.erase(shard);
  if (!is_troubled()) troubled_since_ = never;
  probe_.pass_on(shard);
}

void member_health::record_failure(std::uint32_t shard, const std::string& what) {
  const auto now = on_->now();
  has_failed_[shard] = true;
  if (sign_of_ == shard) is_deceived_ = true;
  if (!is_troubled()) {
    troubled_since_ = never;
    return;
  }
  if (troubled_since_ == never) troubled_since_ = now;
  const bool is_enough = is_on_probation_ || now >= troubled_since_ + options_.calm * part_of_calm / 10;
  if (is_enough && lowered_.empty()) lower(what);
}

void member_health::lower(const std::string& what) {
  lowered_ = what.empty() ? "unknown" : what.substr(0, longest_health_reason);
  const auto calm = std::max<std::chrono::milliseconds>(options_.calm, 100ms);
  last_rest_ = std::clamp<std::chrono::milliseconds>(2 * last_rest_, first_rests * calm, longest_rests * calm);
  lowered_until_ = on_->now() + last_rest_;
  is_on_probation_ = true;
  changed_.notify();
}

/// We ask for shards again, on probation: to wait for progress would give ours away behind an outage of all, because
/// the members make progress one after the other. A career that executes for a while before it fails would ask again
/// and again, so that its member's shards go to and fro.
void member_health::on_good_sign(std::uint32_t shard) {
  ++good_signs_;
  if (!is_deceived_ && !std::exchange(lowered_, {}).empty()) sign_of_ = shard;
  changed_.notify();
}

void member_health::on_progress(std::uint32_t shard) {
  const auto found = has_failed_.find(shard);
  if (found == has_failed_.end()) return;
  const bool is_news = std::exchange(found->second, false);
  if (sign_of_ == shard) sign_of_.reset();
  if (is_news) probe_.pass_on(shard);
  if (is_troubled()) return;
  troubled_since_ = never;
  last_rest_ = 0ms;
  is_on_probation_ = is_deceived_ = false;
  if (!std::exchange(lowered_, {}).empty()) changed_.notify();
}

void member_health::look() {
  if (!lowered_.empty() && on_->now() >= lowered_until_) lowered_.clear();
}

}  // namespace zkrecipes::detail
