#include "redis/stream_position.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>
#include <vector>

#include "format/shown_text.hpp"
#include "source/failed_attempts.hpp"

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

namespace {

std::optional<std::uint64_t> part_of_id(std::string_view text) {
  const bool is_usual = text.size() == 1 || !text.starts_with('0');
  return is_usual ? parse_whole<std::uint64_t>(text) : std::nullopt;
}

}  // namespace

std::string to_string(const stream_id& id) { return std::to_string(id.ms) + '-' + std::to_string(id.sequence); }

std::optional<stream_id> parse_stream_id(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == text.npos) return std::nullopt;
  const auto ms = part_of_id(text.substr(0, dash));
  const auto sequence = part_of_id(text.substr(dash + 1));
  return ms && sequence ? std::optional(stream_id{*ms, *sequence}) : std::nullopt;
}

namespace {

constexpr std::string_view stream_position_kind = "stream_position";

std::vector<std::string> range_texts(const stream_position::ranges& all) {
  std::vector<std::string> texts;
  for (const auto& [first, last] : all) {
    texts.push_back(to_string(first));
    if (last != first) texts.back() += ' ' + to_string(last);
  }
  return texts;
}

/// The ranges are in order, behind `last`, and do not overlap.
bool read_ranges(const std::vector<std::string>& texts, stream_position& into) {
  for (const auto& each : texts) {
    const std::string_view text(each);
    const auto blank = text.find(' ');
    const auto first = parse_stream_id(text.substr(0, blank));
    const auto last = blank == text.npos ? first : parse_stream_id(text.substr(blank + 1));
    if (!first || !last || *last < *first || *first <= into.farthest()) return false;
    into.ahead.emplace(*first, *last);
  }
  return true;
}

bool read_failed(const std::vector<std::string>& texts, stream_position& into) {
  for (const auto& each : texts) {
    auto read = parse_failed_attempts(each);
    const auto which = read ? parse_stream_id(read->first) : std::nullopt;
    if (!which) return false;
    into.failed[*which] = read->second;
  }
  return true;
}

std::optional<std::vector<std::string>> texts_or_none(const json_object& of, std::string_view name) {
  return of.has(name) ? of.texts(name) : std::vector<std::string>();
}

}  // namespace

bool stream_position::is_settled(const stream_id& which) const {
  if (which <= last) return true;
  const auto behind = ahead.upper_bound(which);
  return behind != ahead.begin() && std::prev(behind)->second >= which;
}

std::string serialize(const stream_position& position) {
  auto all = json_object::of_kind(stream_position_kind);
  all.set("last", to_string(position.last));
  if (!position.ahead.empty()) all.set("ahead", range_texts(position.ahead));
  std::vector<std::string> failed;
  for (const auto& [which, attempts] : position.failed) failed.push_back(failed_text(to_string(which), attempts));
  if (!failed.empty()) all.set("failed", failed);
  if (!position.seek.empty()) all.set("seek", position.seek);
  return all.add(position.unknown_fields).to_text();
}

std::optional<stream_position> parse_stream_position(std::string_view text) {
  const auto read = json_object::parse(text);
  if (!read || !read->is(stream_position_kind)) return std::nullopt;
  stream_position position;
  const auto last = parse_stream_id(read->text("last").value_or(""));
  const auto ahead = texts_or_none(*read, "ahead");
  const auto failed = texts_or_none(*read, "failed");
  const auto seek = read->has("seek") ? read->text("seek") : std::string();
  if (!last || !ahead || !failed || !seek) return std::nullopt;
  position.last = *last;
  position.seek = *seek;
  if (!read_ranges(*ahead, position) || !read_failed(*failed, position)) return std::nullopt;
  position.unknown_fields = read->without({"last", "ahead", "failed", "seek"});
  return position;
}

}  // namespace zkrecipes::detail
