#include "delivery/delivery_window.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace zkrecipes::detail {

namespace {

bool is_processed(const message_in_hand& which) {
  return which.at == message_in_hand::stage::finished || which.at == message_in_hand::stage::committing;
}

}  // namespace

void message_stages::add(const message_in_hand& which) {
  ++counts_[static_cast<std::size_t>(which.at)];
  if (is_strict_) unprocessed_.insert(unprocessed_.end(), which.number);
}

void message_stages::set(message_in_hand& which, stage at) {
  const bool was_processed = is_processed(which);
  leave(which);
  which.at = at;
  ++counts_[static_cast<std::size_t>(at)];
  begun_ += which.is_begun() ? 1 : 0;
  if (at == stage::working) working_.insert({which.begun, which.number});
  if (at == stage::finished) finished_.insert(finished_.end(), which.number);
  if (at == stage::resting) resting_.insert({which.rests_until, which.number});
  if (is_strict_) track_processed(which, was_processed);
}

void message_stages::remove(const message_in_hand& which) {
  leave(which);
  if (!barring_.empty()) barring_.erase(which.number);
  unprocessed_.erase(which.number);
}

bool message_stages::has_finished() const {
  return !finished_.empty() && (unprocessed_.empty() || *finished_.begin() < *unprocessed_.begin());
}

/// It is in no stage any more.
void message_stages::leave(const message_in_hand& which) {
  if (which.at == stage::working) working_.erase({which.begun, which.number});
  if (which.at == stage::finished) finished_.erase(which.number);
  if (which.at == stage::resting) resting_.erase({which.rests_until, which.number});
  begun_ -= which.is_begun() ? 1 : 0;
  --counts_[static_cast<std::size_t>(which.at)];
}

void message_stages::track_processed(const message_in_hand& which, bool was_processed) {
  const bool is_done = is_processed(which);
  if (is_done && !was_processed) unprocessed_.erase(which.number);
  if (!is_done && was_processed) unprocessed_.insert(which.number);
  const bool bars_others = is_done && !lets_pass(which.outcome);
  if (bars_others) barring_.insert(which.number);
  if (!bars_others && !barring_.empty()) barring_.erase(which.number);
}

void message_lanes::add(const message_in_hand& which) {
  auto& lane = lanes_[which.lane];
  lane.insert(lane.end(), which.number);
}

void message_lanes::remove(const message_in_hand& which) {
  const auto found = lanes_.find(which.lane);  // a declined message is in none
  if (found == lanes_.end()) return;
  found->second.erase(which.number);
  if (found->second.empty()) lanes_.erase(found);
}

void message_lanes::review(const std::string& lane) {
  const auto found = candidate(lane);
  const auto old = ready_of_.find(lane);
  if (old == ready_of_.end()) {
    if (found == 0) return;
    ready_of_.emplace(lane, found);
  } else {
    if (old->second == found) return;
    ready_.erase(old->second);
    if (found == 0) ready_of_.erase(old);
    if (found != 0) old->second = found;
  }
  if (found != 0) ready_.insert(found);
}

std::uint64_t message_lanes::first_of(const std::string& lane) const {
  const auto found = lanes_.find(lane);
  return found == lanes_.end() ? 0 : *found->second.begin();
}

bool message_lanes::is_resting(const std::string& lane) const {
  const auto first = first_of(lane);
  return first != 0 && all_.at(first).at == message_in_hand::stage::resting;
}

/// The first message of the lane that is not begun, if those in front of it let it pass; else 0.
std::uint64_t message_lanes::candidate(const std::string& lane) const {
  auto first = first_of(lane);
  if (first == 0) return 0;
  if (is_strict_) {
    if (stages_.unprocessed().empty()) return 0;
    first = *stages_.unprocessed().begin();
    if (stages_.is_barred(first)) return 0;
  }
  return all_.at(first).at == message_in_hand::stage::waiting ? first : 0;
}

void message_data::remove(const message_in_hand& which) {
  if (which.is_loaded) --here_;
  unwant(which);
}

void message_data::load(message_in_hand& which, message what) {
  // An attempt that could not be counted on the servers counts here.
  const bool is_same = what.stat.czxid == which.what->stat.czxid;
  if (is_same) what.attempts = std::max(what.attempts, which.what->attempts);
  if (!is_same || what.stat.version != which.what->stat.version) which.cost.reset();
  which.what = std::make_shared<message>(std::move(what));
  unwant(which);
  if (!std::exchange(which.is_loaded, true)) ++here_;
}

void message_data::unload(message_in_hand& which) {
  if (!which.is_loaded) return;
  which.is_loaded = false;
  auto rest_of_it = std::make_shared<message>();
  rest_of_it->name = which.what->name;
  rest_of_it->stat = which.what->stat;
  rest_of_it->attempts = which.what->attempts;
  which.what = std::move(rest_of_it);
  --here_;
}

void message_data::unload_waiting(const message_lanes::members& lane) {
  for (const auto number : lane) {
    auto& each = all_.at(number);
    if (!each.is_begun()) unload(each);
    unwant(each);
  }
}

void message_data::want(const message_lanes::members& lane) {
  for (const auto number : lane) {
    if (!all_.at(number).is_loaded) wanted_.insert(number);
  }
}

namespace {

/// Most messages in memory, with those whose data was dropped: about 200 bytes each.
constexpr std::size_t max_messages = 10'000;

}  // namespace

delivery_window::delivery_window(limits how)
    : how_(how),
      all_(&memory_),
      stages_(how.order == message_order::strict, &memory_),
      lanes_(all_, stages_, how.order == message_order::strict, &memory_),
      data_(all_) {}

void delivery_window::resize(std::size_t window, std::size_t parallel) {
  how_.window = window;
  how_.parallel = parallel;
}

std::size_t delivery_window::room() const {
  return std::min(places(), max_messages - std::min(max_messages, all_.size()));
}

/// How many more messages with their data there may be.
std::size_t delivery_window::places() const {
  // One is read ahead also if each message is committed before the next is begun.
  const auto wanted = std::max<std::size_t>(how_.window, 2);
  return wanted - std::min(wanted, data_.count());
}

void delivery_window::add(message what, std::string lane, lease_clock::time_point now, bool is_sound) {
  const auto number = ++last_number_;
  auto& added = all_.try_emplace(all_.end(), number)->second;
  added.number = number;
  added.what = std::make_shared<message>(std::move(what));
  added.takes_part = how_.keep && is_sound && !lane.empty();
  added.lane = std::move(lane);
  added.received = now;
  data_.add();
  stages_.add(added);
  lanes_.add(added);
  if (how_.may_unload && lanes_.is_resting(added.lane)) data_.unload(added);
  if (added.takes_part) decline_duplicates(added.lane);
  lanes_.review(added.lane);
}

message_in_hand* delivery_window::find_waiting(std::uint64_t number) {
  const auto found = all_.find(number);
  return found != all_.end() && !found->second.is_declined ? &found->second : nullptr;
}

delivery_window::entries delivery_window::missing() {
  entries found;
  auto most = places();
  // A message that could be begun is read again even if messages that can not have taken all places.
  const bool is_blocked =
      most == 0 && std::ranges::none_of(lanes_.ready(), [this](auto each) { return all_.at(each).is_loaded; });
  if (is_blocked && stages_.begun_count() == 0) most = 1;
  for (const auto number : data_.wanted()) {
    if (found.size() == most) break;
    if (!is_blocked || lanes_.ready().contains(number)) found.push_back(&all_.at(number));
  }
  return found;
}

void delivery_window::load(message_in_hand& which, message what) {
  data_.load(which, std::move(what));
  if (how_.may_unload && lanes_.is_resting(which.lane)) data_.unload(which);  // since it was asked for
  lanes_.review(which.lane);
}

message_in_hand* delivery_window::next(lease_clock::time_point now, bool is_last) {
  while (const auto rested = stages_.rested(now)) {
    auto& which = all_.at(rested);
    set(which, stage::waiting);
    lanes_.review(which.lane);
  }
  if (stages_.working_count() >= how_.parallel || stages_.begun_count() >= how_.window) return nullptr;
  const auto& ready = lanes_.ready();
  if (is_last) {
    const auto is_here = [this](auto number) { return all_.at(number).is_loaded; };
    const auto found = std::find_if(ready.rbegin(), ready.rend(), is_here);
    return found == ready.rend() ? nullptr : &all_.at(*found);
  }
  for (const auto number : ready) {
    auto& each = all_.at(number);
    if (each.is_loaded) return &each;
    if (how_.order == message_order::strict) break;
  }
  return nullptr;
}

void delivery_window::begin(message_in_hand& which, lease_clock::time_point now) {
  which.begun = now;
  set(which, stage::working);
  lanes_.review(which.lane);
}

delivery_window::entries delivery_window::behind(const message_in_hand& which, std::size_t most) {
  entries found;
  most = std::min(most, how_.window - std::min(how_.window, stages_.begun_count()));
  const auto& unprocessed = stages_.unprocessed();
  for (auto each = unprocessed.upper_bound(which.number); each != unprocessed.end(); ++each) {
    auto& next = all_.at(*each);
    if (next.at != stage::waiting || !next.is_loaded || found.size() == most) break;
    found.push_back(&next);
  }
  return found;
}

bool delivery_window::finish(message_in_hand& which, message_outcome outcome) {
  if (std::exchange(which.is_void, false)) {
    restart(which);
    return false;
  }
  decide(which, std::move(outcome));
  return true;
}

void delivery_window::decide(message_in_hand& which, message_outcome outcome) {
  which.outcome = std::move(outcome);
  set(which, stage::finished);
  lanes_.review(which.lane);
}

delivery_window::entries delivery_window::finished() {
  entries found;
  const auto& all = stages_.finished();
  const auto& unprocessed = stages_.unprocessed();
  const auto end = unprocessed.empty() ? all.end() : all.lower_bound(*unprocessed.begin());
  for (auto each = all.begin(); each != end; ++each) found.push_back(&all_.at(*each));
  return found;
}

void delivery_window::set_committing(message_in_hand& which, bool is_so) {
  set(which, is_so ? stage::committing : stage::finished);
}

delivery_window::entries delivery_window::refuse(message_in_hand& which, message_outcome instead) {
  entries again;
  which.outcome = std::move(instead);
  set(which, stage::finished);
  const auto& members = lanes_.of(which.lane);
  for (auto each = members.upper_bound(which.number); each != members.end(); ++each) {
    auto& behind = all_.at(*each);
    if (behind.at == stage::working) behind.is_void = true;
    if (behind.at == stage::finished || behind.at == stage::committing) {
      set(behind, stage::waiting);
      again.push_back(&behind);
    }
  }
  lanes_.review(which.lane);
  return again;
}

void delivery_window::restart(message_in_hand& which) {
  which.outcome = {};
  which.letter = {};
  set(which, stage::waiting);
  lanes_.review(which.lane);
}

void delivery_window::rest(message_in_hand& which, lease_clock::time_point until) {
  which.rests_until = until;
  which.outcome = {};
  which.letter = {};
  set(which, stage::resting);
  if (how_.may_unload) data_.unload_waiting(lanes_.of(which.lane));
  lanes_.review(which.lane);
}

void delivery_window::remove(message_in_hand& which) {
  const auto lane = which.lane;
  if (which.at == stage::resting) data_.want(lanes_.of(lane));
  stages_.remove(which);
  data_.remove(which);
  lanes_.remove(which);
  all_.erase(which.number);
  lanes_.review(lane);
}

std::vector<std::uint64_t> delivery_window::waited_for() const {
  std::vector<std::uint64_t> found;
  for (const auto& [since, number] : stages_.working()) {
    if (lanes_.of(all_.at(number).lane).size() > 1) found.push_back(number);
  }
  return found;
}

/// After a rest, what its lane has dropped is read again.
void delivery_window::set(message_in_hand& which, stage at) {
  if (which.at == stage::resting) data_.want(lanes_.of(which.lane));
  stages_.set(which, at);
}

/// One of the messages that wait behind the first one of a lane is kept. None of them is begun, because a lane lets
/// nothing pass its first message. So the one that is kept is processed later than any of the others came.
void delivery_window::decline_duplicates(const std::string& lane) {
  entries all;
  for (const auto number : lanes_.of(lane)) {
    auto& each = all_.at(number);
    if (each.takes_part) all.push_back(&each);
  }
  if (all.size() < 3) return;
  const auto* kept = *how_.keep == keep::first ? all[1] : all.back();
  for (auto each = all.begin() + 1; each != all.end(); ++each) {
    if (*each == kept) continue;
    // It leaves its lane, and takes no room until its settlement is committed.
    auto& declined = **each;
    lanes_.remove(declined);
    data_.unwant(declined);
    declined.is_declined = true;
    set(declined, stage::finished);
    if (how_.may_unload) data_.unload(declined);
  }
}

std::vector<std::string> drop_declined(delivery_window& from) {
  std::vector<std::string> names;
  for (auto* each : from.finished()) {
    if (!each->is_declined) continue;
    names.push_back(each->what->name);
    from.remove(*each);
  }
  return names;
}

std::vector<std::string> drop_lane(delivery_window& from, const std::string& lane) {
  std::vector<std::string> names;
  while (const auto number = from.lanes().first_of(lane)) {
    auto& first = from.at(number);
    names.push_back(first.what->name);
    from.remove(first);
  }
  return names;
}

std::vector<std::string> drop_all(delivery_window& from) {
  std::vector<std::string> names;
  while (!from.all().empty()) {
    auto& first = from.at(from.all().begin()->first);
    names.push_back(first.what->name);
    from.remove(first);
  }
  return names;
}

std::size_t count_removed(const message_table& all) {
  return static_cast<std::size_t>(std::ranges::count_if(all, [](const auto& each) { return each.second.is_removed; }));
}

}  // namespace zkrecipes::detail
