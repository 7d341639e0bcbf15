#include "external/place_progress.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::size_t longest_message_id = 256;

}  // namespace

/// The ids of those that will come can be of any length.
std::size_t held_messages::room() const noexcept {
  const auto left = most_bytes - std::min(most_bytes, bytes_);
  return std::min(most_ - std::min(most_, all_.size()), left / (longest_message_id + bytes_of_attempts));
}

std::size_t held_messages::cost_of(std::string_view id) {
  const auto is_escaped = [](char each) { return each == '"' || each == '\\'; };
  return id.size() + static_cast<std::size_t>(std::ranges::count_if(id, is_escaped)) + 3;
}

const external_message* held_messages::find(std::string_view id) const {
  const auto found = all_.find(id);
  return found == all_.end() ? nullptr : &found->second.what;
}

void held_messages::add(external_message what) {
  bytes_ += cost_of(what.id) + bytes_of_attempts;
  auto id = what.id;
  all_.emplace(std::move(id), held_message{std::move(what)});
}

bool held_messages::count_repeat(std::string_view id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return false;
  ++found->second.deliveries;
  return true;
}

void held_messages::forget_deliveries() {
  for (auto& [id, each] : all_) each.deliveries = 0;
}

std::size_t held_messages::deliveries(std::string_view id) const {
  const auto found = all_.find(id);
  return found == all_.end() ? 0 : found->second.deliveries;
}

void held_messages::remove(std::string_view id) {
  const auto found = all_.find(id);
  if (found == all_.end()) return;
  bytes_ -= cost_of(id) + bytes_of_attempts;
  all_.erase(found);
}

void held_messages::clear() {
  all_.clear();
  bytes_ = 0;
}

namespace {

constexpr std::size_t most_id_bytes = 384 * 1'024;

}  // namespace

bool remembered_ids::load(std::string_view record) {
  auto stored = parse_delivery_memory(record);
  if (!stored) return false;
  memory_ = std::move(*stored);
  order_.clear();
  bytes_ = 0;
  for (auto& each : memory_.names()) {
    bytes_ += held_messages::cost_of(each);
    order_.push_back(std::move(each));
  }
  return true;
}

void remembered_ids::settle(const std::string& id) {
  if (memory_.knows(id)) return;
  memory_.settle(id);
  order_.push_back(id);
  bytes_ += held_messages::cost_of(id);
  while (order_.size() > most_ || bytes_ > most_id_bytes) forget_oldest();
}

void remembered_ids::forget(const std::string& id) {
  const auto found = std::ranges::find(order_, id);
  if (found == order_.end()) return;
  bytes_ -= held_messages::cost_of(id);
  order_.erase(found);
  memory_.forget(id);
}

void remembered_ids::fail(const std::string& id, std::int64_t since, const held_messages& held) {
  auto all = memory_.failed_names();
  if (all.size() >= most_counted && memory_.failed(id).count == 0) {
    std::erase_if(all, [&](const std::string& each) { return held.contains(each); });
    const auto began = [&](const std::string& each) { return memory_.failed(each).since; };
    const auto oldest = std::ranges::min_element(all, {}, began);
    if (oldest != all.end()) memory_.forget(*oldest);
  }
  memory_.fail(id, since);
}

void remembered_ids::forget_oldest() {
  bytes_ -= held_messages::cost_of(order_.front());
  memory_.forget(order_.front());
  order_.pop_front();
}

namespace {

constexpr std::string_view place_position_kind = "external_position";

/// Each is there once, and is not `last`.
bool are_places(const std::vector<std::string>& ahead, const std::string& last) {
  std::set<std::string_view> seen{std::string_view(), last};
  return std::ranges::all_of(ahead, [&seen](const std::string& each) { return seen.insert(each).second; });
}

}  // namespace

std::string serialize(const place_position& position) {
  auto all = json_object::of_kind(place_position_kind);
  all.set("last", position.last);
  if (!position.ahead.empty()) all.set("ahead", position.ahead);
  std::vector<std::string> failed;
  for (const auto& [place, attempts] : position.failed) failed.push_back(failed_text(place, attempts));
  if (!failed.empty()) all.set("failed", failed);
  return all.add(position.unknown_fields).to_text();
}

std::optional<place_position> parse_place_position(std::string_view text) {
  const auto read = json_object::parse(text);
  if (!read || !read->is(place_position_kind)) return std::nullopt;
  const auto texts = [&read](std::string_view name) {
    return read->has(name) ? read->texts(name) : std::optional(std::vector<std::string>());
  };
  auto last = read->text("last");
  auto ahead = texts("ahead");
  const auto failed = texts("failed");
  if (!last || !ahead || !failed) return std::nullopt;
  if (!are_places(*ahead, *last)) return std::nullopt;
  place_position position;
  position.last = std::move(*last);
  position.ahead = std::move(*ahead);
  for (const auto& each : *failed) {
    const auto one = parse_failed_attempts(each);
    if (!one || one->first.empty()) return std::nullopt;
    position.failed.emplace(one->first, one->second);
  }
  position.unknown_fields = read->without({"last", "ahead", "failed"});
  return position;
}

place_progress::place_progress(place_position stored)
    : stored_(std::move(stored)), ahead_(stored_.ahead.begin(), stored_.ahead.end()) {
  for (const auto& each : ahead_) bytes_ += held_messages::cost_of(each);
}

bool place_progress::open(const std::string& place) {
  if (numbers_.contains(place) || place == stored_.last) return false;
  const bool is_settled = ahead_.contains(place);
  pass_stored(place);
  numbers_.emplace(place, first_ + open_.size());
  open_.push_back({place, is_settled});
  bytes_ += held_messages::cost_of(place);
  move_on();
  return !is_settled;
}

/// The log has its order, so what was stored in front of this place, and was not read, has left the log. In front of
/// what is stored there are at most `most_open` places that are not: behind so many, all of it has left the log.
void place_progress::pass_stored(const std::string& place) {
  auto& ahead = stored_.ahead;
  const bool is_stored = ahead_.contains(place);
  const bool is_behind_all = !is_stored && ++unknown_ == most_open + 1;
  auto end = is_behind_all ? ahead.end() : ahead.begin();
  if (is_stored) end = std::next(std::ranges::find(ahead, place));
  for (auto each = ahead.begin(); each != end; ++each) {
    bytes_ -= held_messages::cost_of(*each);
    ahead_.erase(*each);
  }
  ahead.erase(ahead.begin(), end);
  if (is_behind_all) std::erase_if(stored_.failed, [this](const auto& each) { return !numbers_.contains(each.first); });
}

void place_progress::settle(const std::string& place) {
  const auto found = numbers_.find(place);
  if (found == numbers_.end()) return;
  const auto failed = stored_.failed.find(place);
  if (failed != stored_.failed.end()) stored_.failed.erase(failed);
  open_[found->second - first_].is_settled = true;
  move_on();
}

void place_progress::fail(const std::string& place, std::int64_t since) {
  if (numbers_.contains(place)) count_failure(stored_.failed, place, since);
}

failed_attempts place_progress::failed(std::string_view place) const {
  const auto found = stored_.failed.find(place);
  return found == stored_.failed.end() ? failed_attempts() : found->second;
}

void place_progress::move_on() {
  while (!open_.empty() && open_.front().is_settled) {
    stored_.last = std::move(open_.front().place);
    bytes_ -= held_messages::cost_of(stored_.last);
    numbers_.erase(stored_.last);
    open_.pop_front();
    ++first_;
  }
}

place_position place_progress::position() const {
  auto all = stored_;
  std::vector<std::string> ahead;
  for (const auto& each : open_) {
    if (each.is_settled) ahead.push_back(each.place);
  }
  std::ranges::move(all.ahead, std::back_inserter(ahead));
  all.ahead = std::move(ahead);
  return all;
}

}  // namespace zkrecipes::detail
