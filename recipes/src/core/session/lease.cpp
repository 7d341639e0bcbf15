#include "session/lease.hpp"

#include <algorithm>
#include <utility>

#include <time.h>

#include <zkrecipes/lease_clock.hpp>

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

}  // namespace zkrecipes::detail
