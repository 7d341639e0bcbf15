#include "balance/shared_pace.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <boost/asio/error.hpp>

#include <zkrecipes/error.hpp>

#include "balance/pending_move.hpp"

namespace zkrecipes::detail {

namespace {

std::int64_t slowest(const std::vector<shared_track*>& tracks) {
  auto found = tracks.front()->steps;
  for (const auto* each : tracks) found = std::min(found, each->steps);
  return found;
}

/// To be called before the move can complete, because the handler may destroy what the slot belongs to. The slot may
/// outlive the move.
void listen(const shared_pace::track_ptr& which, const std::shared_ptr<pending_move>& move) {
  auto slot = move->slot();
  if (!slot.is_connected()) return;
  slot.assign([track = std::weak_ptr(which), weak = std::weak_ptr(move)](asio::cancellation_type type) {
    const auto whose = track.lock();
    const auto one = weak.lock();
    if (whose && one && type != asio::cancellation_type::none) whose->pace->cancel(*whose, one);
  });
}

}  // namespace

shared_pace::shared_pace(scheduler_ptr on, std::uint64_t range, std::function<void()> on_progress)
    : scheduler_(std::move(on)),
      range_(static_cast<std::int64_t>(range)),
      granule_(std::max<std::int64_t>(1, range_ / 4)),
      on_progress_(std::move(on_progress)) {}

shared_pace::track_ptr shared_pace::add(std::string name) {
  auto made = std::make_shared<shared_track>(shared_from_this(), std::move(name));
  bool is_first = false;
  {
    const std::lock_guard lock(mutex_);
    if (tracks_.size() == most_tracks) throw std::length_error("shared balance: there are 10000 tracks");
    is_first = tracks_.empty();
    made->steps = is_first ? promised_ : slowest(tracks_);
    tracks_.push_back(made.get());
  }
  if (is_first) on_progress_();
  return made;
}

void shared_pace::leave(shared_track& which) noexcept {
  kept last;
  moves ended;
  bool is_due = false;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(which.has_left, true)) return;
    std::erase(tracks_, &which);
    ended.swap(which.waiting);
    if (!ended.empty()) last = end_waiting();
    is_due = tracks_.empty() || is_floor_due();
  }
  complete_all(ended, errc::closed);
  if (is_due) on_progress_();
}

/// The end of the lease first: what happens meanwhile counts against us.
bool shared_pace::may_move() const {
  if (!is_open_ || !is_admitted_) return false;
  const auto until = valid_until_();
  return scheduler_->now() < until;
}

bool shared_pace::step(shared_track& which) {
  if (which.steps >= limit_ || !may_move()) return false;
  ++which.steps;
  return true;
}

bool shared_pace::try_move(shared_track& which) {
  bool is_due = false;
  {
    const std::lock_guard lock(mutex_);
    if (which.has_left || !which.waiting.empty() || !step(which)) return false;
    is_due = which.steps == floor_ + granule_ && is_floor_due();  // each track passes this number once
  }
  if (is_due) on_progress_();
  return true;
}

void shared_pace::move(const track_ptr& which, pending_move::handler whose) {
  auto made = std::make_shared<pending_move>(scheduler_->base, std::move(whose));
  listen(which, made);
  std::optional<error_code> answer;
  bool is_due = false;
  {
    const std::lock_guard lock(mutex_);
    if (which->has_left || !is_open_) {
      answer = errc::closed;
    } else if (which->waiting.empty() && step(*which)) {
      answer = error_code();
      is_due = which->steps == floor_ + granule_ && is_floor_due();
    } else {
      if (which->waiting.empty() && waiting_++ == 0) keep_until_shutdown(scheduler_->strand, shared_from_this());
      which->waiting.push_back(made);
      // Only the lease was in its way, and may be renewed by now: the membership looks again, and waits for it.
      is_due = is_admitted_ && which->steps < limit_ && which->waiting.size() == 1;
    }
  }
  if (answer) made->complete(*answer);
  if (is_due) on_progress_();
}

void shared_pace::cancel(shared_track& which, const std::shared_ptr<pending_move>& move) {
  kept last;
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find(which.waiting.begin(), which.waiting.end(), move);
    if (found == which.waiting.end()) return;  // it was made, or ended otherwise
    which.waiting.erase(found);
    if (which.waiting.empty()) last = end_waiting();
  }
  move->complete(asio::error::operation_aborted);
}

std::uint64_t shared_pace::steps(const shared_track& which) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::uint64_t>(which.steps);
}

void shared_pace::open() {
  const std::lock_guard lock(mutex_);
  is_open_ = true;
}

void shared_pace::close() {
  kept last;
  moves ended;
  {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
    for (auto* each : tracks_) {
      if (each->waiting.empty()) continue;
      ended.splice(ended.end(), each->waiting);
      last = end_waiting();
    }
  }
  complete_all(ended, errc::closed);
}

void shared_pace::admit(std::int64_t limit, validity until) {
  {
    const std::lock_guard lock(mutex_);
    is_admitted_ = true;
    valid_until_ = std::move(until);
    limit_ = limit;
    floor_ = promised_ = limit - range_;
    ++joins_;
    for (auto* each : tracks_) each->steps = std::clamp(each->steps, floor_, limit_);
  }
  go_on();
}

void shared_pace::raise(std::int64_t limit) {
  {
    const std::lock_guard lock(mutex_);
    if (limit <= limit_) return;
    limit_ = limit;
  }
  go_on();
}

/// The moves that were made may have ended a granule. If the lease has ended, the membership has to wait for it.
void shared_pace::go_on() {
  bool is_due = refresh();
  if (!is_due) {
    const std::lock_guard lock(mutex_);
    is_due = is_floor_due();
  }
  if (is_due) on_progress_();
}

void shared_pace::suspend() {
  const std::lock_guard lock(mutex_);
  is_admitted_ = false;
}

bool shared_pace::suspend_if_empty() {
  const std::lock_guard lock(mutex_);
  if (tracks_.empty()) is_admitted_ = false;
  return tracks_.empty();
}

bool shared_pace::is_floor_due() const {
  return is_admitted_ && !tracks_.empty() && slowest(tracks_) >= floor_ + granule_;
}

std::optional<std::int64_t> shared_pace::next_floor() {
  const std::lock_guard lock(mutex_);
  if (!is_floor_due()) return std::nullopt;
  const auto finished = slowest(tracks_);
  floor_ = finished - (finished - floor_) % granule_;
  promised_ = std::max(promised_, floor_);
  return floor_;
}

std::optional<std::int64_t> shared_pace::promise_floor() {
  const std::lock_guard lock(mutex_);
  if (tracks_.empty()) return std::nullopt;
  const auto finished = slowest(tracks_);
  promised_ = std::max(promised_, finished - (finished - floor_) % granule_);
  return promised_;
}

bool shared_pace::refresh() {
  kept last;
  moves granted;
  bool is_over = false;
  {
    const std::lock_guard lock(mutex_);
    const bool is_allowed = waiting_ > 0 && may_move();
    for (auto* each : tracks_) {
      if (!is_allowed || each->waiting.empty()) continue;
      while (!each->waiting.empty() && step(*each)) {
        granted.splice(granted.end(), each->waiting, each->waiting.begin());
      }
      if (each->waiting.empty()) last = end_waiting();
    }
    is_over = waiting_ > 0 && is_admitted_ && !may_move();
  }
  complete_all(granted, error_code());
  return is_over;
}

shared_pace::kept shared_pace::end_waiting() { return --waiting_ == 0 ? release(scheduler_->strand, this) : nullptr; }

bool shared_pace::has_tracks() const {
  const std::lock_guard lock(mutex_);
  return !tracks_.empty();
}

std::int64_t shared_pace::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

void shared_pace::show_in(shared_balance_status& status) const {
  const std::lock_guard lock(mutex_);
  for (const auto* each : tracks_) {
    status.tracks.push_back({each->name, static_cast<std::uint64_t>(each->steps), !each->waiting.empty()});
  }
  status.range = static_cast<std::uint64_t>(range_);
  status.limit = static_cast<std::uint64_t>(limit_);
  status.floor = static_cast<std::uint64_t>(floor_);
  status.is_member = is_admitted_;
  if (is_admitted_) status.valid_until = valid_until_();
  status.joins = joins_;
}

/// A handler may own a track, which leaves when it is destroyed, so the handlers are destroyed without the lock.
void shared_pace::drop() {
  moves dropped;
  const std::lock_guard lock(mutex_);
  for (auto* each : tracks_) dropped.splice(dropped.end(), each->waiting);
  waiting_ = 0;
}

}  // namespace zkrecipes::detail
