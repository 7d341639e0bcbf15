// The lease of a session: the requests that prove its life, and the holders that are told of its end.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

lease_clock::time_point core::valid_until(std::uint64_t number) const {
  std::lock_guard lock(mutex_);
  const bool lives = status_.state == session_state::connected || status_.state == session_state::suspended;
  return lives && !given_up_ && (number == 0 || number == counters_.incarnations) ? lease_.valid_until()
                                                                                  : lease_clock::time_point{};
}

error_code core::invalid(std::uint64_t number) const {
  const auto until = valid_until(number);  // first: what happens meanwhile counts against us
  if (now() < until) return {};
  std::lock_guard lock(mutex_);
  if (given_up_ || status_.state == session_state::closed) return errc::closed;
  const bool is_over = status_.state == session_state::expired || number != counters_.incarnations;
  return is_over ? errc::session_expired : errc::lease_lapsed;
}

bool core::has_lapsed() const {
  return options_.lease == lease_mode::strict && connected() && !over() && valid_until() <= now();
}

core::holder core::add_holder(condition& tell) {
  heartbeat_.notify();
  return holders_.insert(holders_.end(), &tell);
}

/// Sends the heartbeats: they prove that the session lives, and find out what no event has told.
awaitable<void> core::prove_life() {
  co_await accept_cancellation();
  while (!ended_ && !closing_) {  // nothing can be sent, and nothing needs to be proved, while the session is closed
    if (const auto due = next_beat(); now() < due) {
      co_await heartbeat_.wait(due);
      continue;
    }
    const auto sent = beat();
    error_code error;
    for (const auto& each : sent) {
      auto got = co_await answer(each);
      if (got.error && got.error != errc::no_node) error = got.error;
    }
    if (error) co_await heartbeat_.wait(now() + 50ms);  // refused: not again at once
  }
}

/// When the next heartbeat is due: one that keeps the lease if there is a holder, one that probes if somebody waits for
/// a change.
lease_clock::time_point core::next_beat() const {
  if (!connected()) return never;
  const bool keeps_lease = !holders_.empty() || options_.lease == lease_mode::strict;
  const auto due = keeps_lease ? lease_.heartbeat_due() : never;
  return watches_->size() > 0 ? std::min(due, next_probe_) : due;
}

/// One heartbeat. Where the answer of any server keeps the lease, a probe takes the place of the request that would
/// show nothing else.
std::vector<exchange_ptr> core::beat() {
  std::vector<exchange_ptr> sent;
  const bool keeps_lease = !holders_.empty() || options_.lease == lease_mode::strict;
  const bool is_due = keeps_lease && now() >= lease_.heartbeat_due();
  const bool probe_will_do = lease_.heartbeat_needs() == witness::server;
  std::vector<std::string> probes;
  if (probe_will_do || now() >= next_probe_) {
    probes = watches_->next_probes();
    next_probe_ = now() + lease_.interval();
  }
  const auto first = is_due ? std::exchange(welcome_, nullptr) : nullptr;
  if (first && !first->answer) {
    sent.push_back(first);
  } else if (is_due && !(probe_will_do && !probes.empty())) {
    sent.push_back(send(heartbeat()));
  }
  for (auto& each : probes) sent.push_back(send(make_probe(backend::opcode::exists, std::move(each))));
  std::lock_guard lock(mutex_);
  counters_.heartbeats += sent.size();
  return sent;
}

/// The cheapest request whose answer comes from the witness that the lease needs.
backend::request core::heartbeat() const {
  switch (lease_.heartbeat_needs()) {
    case witness::quorum: return backend::make_catch_up();
    case witness::leader: return make_request(backend::opcode::sync, "/");
    case witness::server: break;
  }
  return make_request(backend::opcode::exists, "/");
}

/// Tells the log once of each end of a lease; the end of the incarnation has an event of its own.
void core::note_lapse(lease_clock::time_point end) {
  if (std::exchange(told_lapse_, end) != end && end != lease_clock::time_point{}) log_.lease_lapsed();
}

/// Notifies all holders when the lease ends. They share one timer, because there may be thousands of them. (A holder
/// without a connection, or with a request in flight, checks the clock itself.)
awaitable<void> core::watch_lease() {
  co_await accept_cancellation();
  while (!ended_ && !closing_) {
    const auto until = holders_.empty() ? never : valid_until();
    const bool is_over = until <= now();
    if (is_over) {
      note_lapse(until);
      for (auto* each : holders_) each->notify();
    }
    co_await heartbeat_.wait(is_over ? never : until);
  }
}

}  // namespace zkrecipes::detail
