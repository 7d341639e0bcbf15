#include "delivery/delivery_window.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace zkrecipes::detail {

namespace {

/// Most messages in memory, with those whose data was dropped: about 200 bytes each.
constexpr std::size_t max_messages = 10'000;

bool is_processed(const message_in_hand& which) {
  return which.at == message_in_hand::stage::finished || which.at == message_in_hand::stage::committing;
}

/// Whether the messages behind it in the strict lane may be begun.
bool lets_others_pass(const message_in_hand& which) {
  return is_processed(which) && delivery_window::lets_pass(which.outcome);
}

}  // namespace

delivery_window::delivery_window(limits how)
    : how_(how), all_(&memory_), lanes_(&memory_), working_(&memory_), resting_(&memory_), ready_of_(&memory_) {}

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
  return wanted - std::min(wanted, loaded_);
}

void delivery_window::add(message what, std::string lane, lease_clock::time_point now, bool is_sound) {
  const auto number = ++last_number_;
  auto& added = all_.try_emplace(all_.end(), number)->second;
  added.number = number;
  added.what = std::make_shared<message>(std::move(what));
  added.takes_part = how_.keep && is_sound && !lane.empty();
  added.lane = std::move(lane);
  added.received = now;
  ++loaded_;
  ++count_of(added.at);
  if (is_strict()) unprocessed_.insert(unprocessed_.end(), number);
  auto& members = lanes_[added.lane];
  members.insert(members.end(), number);
  if (how_.may_unload && is_resting(added.lane)) unload(added);
  if (added.takes_part) decline_duplicates(added.lane);
  review(added.lane);
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
      most == 0 && std::ranges::none_of(ready_, [this](auto each) { return all_.at(each).is_loaded; });
  if (is_blocked && begun_ == 0) most = 1;
  for (const auto number : missing_) {
    if (found.size() == most) break;
    if (!is_blocked || ready_.contains(number)) found.push_back(&all_.at(number));
  }
  return found;
}

void delivery_window::load(message_in_hand& which, message what) {
  // An attempt that could not be counted on the servers counts here.
  const bool is_same = what.stat.czxid == which.what->stat.czxid;
  if (is_same) what.attempts = std::max(what.attempts, which.what->attempts);
  if (!is_same || what.stat.version != which.what->stat.version) which.cost.reset();
  which.what = std::make_shared<message>(std::move(what));
  missing_.erase(which.number);
  if (!std::exchange(which.is_loaded, true)) ++loaded_;
  if (how_.may_unload && is_resting(which.lane)) unload(which);  // since it was asked for
  review(which.lane);
}

message_in_hand* delivery_window::next(lease_clock::time_point now, bool is_last) {
  while (!resting_.empty() && resting_.begin()->first <= now) {
    auto& rested = all_.at(resting_.begin()->second);
    set(rested, stage::waiting);
    review(rested.lane);
  }
  if (working_.size() >= how_.parallel || begun_ >= how_.window) return nullptr;
  if (is_last) {
    const auto is_here = [this](auto number) { return all_.at(number).is_loaded; };
    const auto found = std::find_if(ready_.rbegin(), ready_.rend(), is_here);
    return found == ready_.rend() ? nullptr : &all_.at(*found);
  }
  for (const auto number : ready_) {
    auto& each = all_.at(number);
    if (each.is_loaded) return &each;
    if (is_strict()) break;
  }
  return nullptr;
}

void delivery_window::begin(message_in_hand& which, lease_clock::time_point now) {
  which.begun = now;
  set(which, stage::working);
  review(which.lane);
}

delivery_window::entries delivery_window::behind(const message_in_hand& which, std::size_t most) {
  entries found;
  most = std::min(most, how_.window - std::min(how_.window, begun_));
  for (auto each = unprocessed_.upper_bound(which.number); each != unprocessed_.end(); ++each) {
    auto& next = all_.at(*each);
    if (next.at != stage::waiting || !next.is_loaded || found.size() == most) break;
    found.push_back(&next);
  }
  return found;
}

bool delivery_window::lets_pass(const message_outcome& outcome) {
  return outcome.what() == message_outcome::kind::done || outcome.what() == message_outcome::kind::park;
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
  review(which.lane);
}

delivery_window::entries delivery_window::finished() {
  entries found;
  const auto end = unprocessed_.empty() ? finished_.end() : finished_.lower_bound(*unprocessed_.begin());
  for (auto each = finished_.begin(); each != end; ++each) found.push_back(&all_.at(*each));
  return found;
}

bool delivery_window::has_finished() const {
  return !finished_.empty() && (unprocessed_.empty() || *finished_.begin() < *unprocessed_.begin());
}

void delivery_window::commit(message_in_hand& which) { set(which, stage::committing); }

void delivery_window::uncommit(message_in_hand& which) { set(which, stage::finished); }

delivery_window::entries delivery_window::refuse(message_in_hand& which, message_outcome instead) {
  entries again;
  which.outcome = std::move(instead);
  set(which, stage::finished);
  const auto& members = lanes_.at(which.lane);
  for (auto each = members.upper_bound(which.number); each != members.end(); ++each) {
    auto& behind = all_.at(*each);
    if (behind.at == stage::working) behind.is_void = true;
    if (behind.at == stage::finished || behind.at == stage::committing) {
      set(behind, stage::waiting);
      again.push_back(&behind);
    }
  }
  review(which.lane);
  return again;
}

void delivery_window::restart(message_in_hand& which) {
  which.outcome = {};
  which.letter = {};
  set(which, stage::waiting);
  review(which.lane);
}

void delivery_window::rest(message_in_hand& which, lease_clock::time_point until) {
  which.rests_until = until;
  which.outcome = {};
  which.letter = {};
  set(which, stage::resting);
  if (how_.may_unload) unload_lane(which.lane);
  review(which.lane);
}

void delivery_window::remove(message_in_hand& which) {
  const auto lane = which.lane;
  const auto number = which.number;
  leave(which);
  if (which.is_loaded) --loaded_;
  if (!barring_.empty()) barring_.erase(number);
  unprocessed_.erase(number);
  missing_.erase(number);
  const auto members = lanes_.find(lane);  // a declined message is in none
  if (members != lanes_.end()) members->second.erase(number);
  if (members != lanes_.end() && members->second.empty()) lanes_.erase(members);
  all_.erase(number);
  review(lane);
}

lease_clock::time_point delivery_window::next_time() const {
  return resting_.empty() ? never : resting_.begin()->first;
}

lease_clock::time_point delivery_window::working_since() const {
  return working_.empty() ? never : working_.begin()->first;
}

delivery_window::entries delivery_window::working() {
  entries found;
  for (const auto& [since, number] : working_) found.push_back(&all_.at(number));
  return found;
}

std::vector<std::uint64_t> delivery_window::waited_for() const {
  std::vector<std::uint64_t> found;
  for (const auto& [since, number] : working_) {
    if (lanes_.at(all_.at(number).lane).size() > 1) found.push_back(number);
  }
  return found;
}

const message_in_hand* delivery_window::oldest() const { return all_.empty() ? nullptr : &all_.begin()->second; }

/// Changes the stage of a message, and what is counted of it.
void delivery_window::set(message_in_hand& which, stage at) {
  const bool was_processed = is_processed(which);
  leave(which);
  which.at = at;
  ++count_of(at);
  begun_ += which.is_begun() ? 1 : 0;
  if (at == stage::working) working_.insert({which.begun, which.number});
  if (at == stage::finished) finished_.insert(finished_.end(), which.number);
  if (at == stage::resting) resting_.insert({which.rests_until, which.number});
  if (is_strict()) note_progress(which, was_processed);
}

/// It is in no stage any more. After a rest, what its lane has dropped is read again.
void delivery_window::leave(message_in_hand& which) {
  if (which.at == stage::working) working_.erase({which.begun, which.number});
  if (which.at == stage::finished) finished_.erase(which.number);
  if (which.at == stage::resting) resting_.erase({which.rests_until, which.number});
  if (which.at == stage::resting) want_lane(which.lane);
  begun_ -= which.is_begun() ? 1 : 0;
  --count_of(which.at);
}

void delivery_window::note_progress(const message_in_hand& which, bool was_processed) {
  const bool is_done = is_processed(which);
  if (is_done && !was_processed) unprocessed_.erase(which.number);
  if (!is_done && was_processed) unprocessed_.insert(which.number);
  const bool bars_others = is_done && !lets_others_pass(which);
  if (bars_others) barring_.insert(which.number);
  if (!bars_others && !barring_.empty()) barring_.erase(which.number);
}

/// Finds out which message of a lane may be begun next.
void delivery_window::review(const std::string& lane) {
  const auto members = lanes_.find(lane);
  const auto found = members == lanes_.end() ? 0 : candidate(members->second);
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

/// The first message of the lane that is not begun, if those in front of it let it pass; else 0.
std::uint64_t delivery_window::candidate(const lane_members& members) const {
  auto first = *members.begin();
  if (is_strict()) {  // all messages are in this lane
    if (unprocessed_.empty()) return 0;
    first = *unprocessed_.begin();
    if (!barring_.empty() && *barring_.begin() < first) return 0;
  }
  return all_.at(first).at == stage::waiting ? first : 0;
}

/// One of the messages that wait behind the first one of a lane is kept. None of them is begun, because a lane lets
/// nothing pass its first message. So the one that is kept is processed later than any of the others came.
void delivery_window::decline_duplicates(const std::string& lane) {
  entries all;
  for (const auto number : lanes_.at(lane)) {
    auto& each = all_.at(number);
    if (each.takes_part) all.push_back(&each);
  }
  if (all.size() < 3) return;
  const auto* kept = *how_.keep == keep::first ? all[1] : all.back();
  for (auto each = all.begin() + 1; each != all.end(); ++each) {
    if (*each != kept) decline(**each);
  }
}

/// The message leaves its lane, and takes no room until its settlement is committed.
void delivery_window::decline(message_in_hand& which) {
  which.is_declined = true;
  lanes_.at(which.lane).erase(which.number);
  missing_.erase(which.number);
  set(which, stage::finished);
  if (how_.may_unload) unload(which);
}

bool delivery_window::is_resting(const std::string& lane) const {
  const auto members = lanes_.find(lane);
  return members != lanes_.end() && all_.at(*members->second.begin()).at == stage::resting;
}

/// Drops the data of all messages of a lane that wait, so that they take no room while the lane rests.
void delivery_window::unload_lane(const std::string& lane) {
  for (const auto number : lanes_.at(lane)) {
    auto& each = all_.at(number);
    if (!each.is_begun()) unload(each);
    missing_.erase(number);
  }
}

void delivery_window::want_lane(const std::string& lane) {
  for (const auto number : lanes_.at(lane)) {
    if (!all_.at(number).is_loaded) missing_.insert(number);
  }
}

void delivery_window::unload(message_in_hand& which) {
  if (!which.is_loaded) return;
  which.is_loaded = false;
  auto rest_of_it = std::make_shared<message>();
  rest_of_it->name = which.what->name;
  rest_of_it->stat = which.what->stat;
  rest_of_it->attempts = which.what->attempts;
  which.what = std::move(rest_of_it);
  --loaded_;
}

}  // namespace zkrecipes::detail

// Messages that leave the window without being settled.
namespace zkrecipes::detail {

std::vector<std::string> delivery_window::drop_declined() {
  std::vector<std::string> names;
  for (auto* each : finished()) {
    if (!each->is_declined) continue;
    names.push_back(each->what->name);
    remove(*each);
  }
  return names;
}

std::vector<std::string> delivery_window::drop_lane(const std::string& lane) {
  std::vector<std::string> names;
  for (auto members = lanes_.find(lane); members != lanes_.end(); members = lanes_.find(lane)) {
    auto& first = all_.at(*members->second.begin());
    names.push_back(first.what->name);
    remove(first);
  }
  return names;
}

std::vector<std::string> delivery_window::drop_all() {
  std::vector<std::string> names;
  while (!all_.empty()) {
    auto& first = all_.begin()->second;
    names.push_back(first.what->name);
    remove(first);
  }
  return names;
}

std::size_t delivery_window::count_removed() const {
  return static_cast<std::size_t>(
      std::count_if(all_.begin(), all_.end(), [](const auto& each) { return each.second.is_removed; }));
}

}  // namespace zkrecipes::detail
