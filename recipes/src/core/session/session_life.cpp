#include "session/session_life.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <time.h>

#include <zkrecipes/lease_clock.hpp>

#include "session/operation.hpp"

namespace zkrecipes {

lease_clock::time_point lease_clock::now() noexcept {
  timespec present{};
  ::clock_gettime(CLOCK_BOOTTIME, &present);  // CLOCK_MONOTONIC stands still while the machine is suspended
  return time_point(std::chrono::seconds(present.tv_sec) + std::chrono::nanoseconds(present.tv_nsec));
}

}  // namespace zkrecipes

namespace zkrecipes::detail {

void lease::begin(lease_mode mode, duration timeout, duration margin, time_point asked, time_point answered) {
  mode_ = mode;
  timeout_ = timeout;
  margin_ = std::min(margin, timeout / 2);
  proof_ = asked;
  first_ = {asked, answered};
  second_.reset();
}

void lease::resume(duration timeout, duration margin, time_point asked, time_point answered) {
  timeout_ = std::min(timeout_, timeout);
  margin_ = std::min(margin, timeout_ / 2);
  if (mode_ == lease_mode::standard) proof_ = std::max(proof_, asked);
  first_ = {asked, answered};
  second_ = first_;  // the leader has heard of us, without a report; it remains open whether it has a quorum
}

void lease::acknowledged(time_point sent, time_point answered, witness by) {
  if (mode_ == lease_mode::standard) {
    proof_ = std::max(proof_, sent);
  } else if (by != witness::server) {
    record_proof({sent, answered}, by);
  }
}

lease::time_point lease::heartbeat_due() const {
  if (mode_ == lease_mode::standard) return proof_ + interval();
  return second_ ? second_->answered : first_.answered + gap();
}

witness lease::heartbeat_needs() const {
  if (mode_ == lease_mode::standard) return witness::server;
  return second_ ? witness::quorum : witness::leader;
}

void lease::record_proof(const exchange& latest, witness by) {
  if (second_ && by == witness::quorum && latest.sent >= second_->answered) {
    proof_ = std::max(proof_, first_.sent);
    first_ = *std::exchange(second_, std::nullopt);
  }
  if (!second_ && latest.sent >= first_.answered + gap()) second_ = latest;
}

using namespace std::chrono_literals;

session_facts::session_facts(scheduler_ptr on, const session_options& options)
    : scheduler_(std::move(on)), mode_(options.lease), margin_(options.lease_margin) {}

session_status session_facts::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

session_counters session_facts::counters() const {
  std::lock_guard lock(mutex_);
  return counters_;
}

lease_clock::time_point session_facts::valid_until(std::uint64_t number) const {
  std::lock_guard lock(mutex_);
  const bool lives = status_.state == session_state::connected || status_.state == session_state::suspended;
  return lives && !given_up_ && (number == 0 || number == counters_.incarnations) ? lease_.valid_until()
                                                                                  : lease_clock::time_point{};
}

error_code session_facts::invalid(std::uint64_t number) const {
  const auto until = valid_until(number);  // first: what happens meanwhile counts against us
  if (scheduler_->now() < until) return {};
  std::lock_guard lock(mutex_);
  if (given_up_ || status_.state == session_state::closed) return errc::closed;
  const bool is_over = status_.state == session_state::expired || number != counters_.incarnations;
  return is_over ? errc::session_expired : errc::lease_lapsed;
}

std::uint64_t session_facts::count(std::uint64_t session_counters::*which, std::uint64_t by) {
  std::lock_guard lock(mutex_);
  return counters_.*which += by;
}

void session_facts::enter(session_state state, const error_code& reason, const incarnation* present,
                          std::string server) {
  std::lock_guard lock(mutex_);
  status_.state = state;
  status_.reason = reason;
  status_.incarnation = counters_.incarnations;
  status_.session_id = present ? present->key.id : 0;
  status_.timeout = present ? present->key.timeout : 0ms;
  status_.server = std::move(server);
  ++status_.changes;
}

void session_facts::show_failures(std::vector<connection_failure> all) {
  std::lock_guard lock(mutex_);
  status_.failures = std::move(all);
}

void session_facts::show_guarded(bool is_held) {
  std::lock_guard lock(mutex_);
  status_.is_guarded = is_held;
  if (!is_held) ++counters_.guardian_failures;
}

void session_facts::on_granted(incarnation& present, bool is_new, lease_clock::time_point asked) {
  const auto timeout = present.key.timeout;
  const auto margin = margin_.count() ? margin_ : timeout / 10;
  std::lock_guard lock(mutex_);
  ++counters_.connects;
  if (is_new) {
    present.number = ++counters_.incarnations;
    lease_.begin(mode_, timeout, margin, asked, scheduler_->now());
  } else {
    lease_.resume(timeout, margin, asked, scheduler_->now());
  }
}

bool session_facts::acknowledged(lease_clock::time_point sent, witness by) {
  const auto present = scheduler_->now();
  std::lock_guard lock(mutex_);
  ++counters_.answers;
  const bool was_over = lease_.valid_until() <= present;
  lease_.acknowledged(sent, present, by);
  return was_over && lease_.valid_until() > present;
}

void session_facts::give_up_lease() {
  std::lock_guard lock(mutex_);
  given_up_ = true;
}

session_life::session_life(scheduler_ptr on, session_options options)
    : session_facts(on, options),
      scheduler_(std::move(on)),
      options_(std::move(options)),
      log_(*scheduler_, options_),
      changed_(scheduler_) {
  options_.trace = guarded(*scheduler_, std::move(options_.trace));
}

std::vector<credentials> session_life::take_digest() { return std::exchange(options_.digest, {}); }

std::string session_life::make_guid() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string guid = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  std::array<std::uint64_t, 2> bits{scheduler_->world->random(), scheduler_->world->random()};
  for (std::size_t i = 0, used = 0; i < guid.size(); ++i) {
    if (guid[i] == '-') continue;
    guid[i] = digits[(bits[used / 16] >> (used % 16 * 4)) & 0xf];
    ++used;
  }
  return guid;
}

void session_life::enter(session_state state, const error_code& reason, std::string server) {
  session_facts::enter(state, reason, incarnation_.get(), std::move(server));
  changed_.notify();
  if (state == session_state::connected) {
    scheduler_->reach->connected();
  } else {
    scheduler_->reach->disconnected();  // last: it may fail for want of memory
  }
}

bool session_life::end_incarnation(const error_code& reason) {
  if (!incarnation_) return false;
  const bool is_first = !incarnation_->ended;
  if (is_first) incarnation_->lease_end = present_lease().valid_until();
  incarnation_->ended = reason;
  return is_first;
}

}  // namespace zkrecipes::detail
