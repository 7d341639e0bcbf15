// The lease of a session: the requests that prove its life, and the holders that are told of its end.
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

bool core::has_lapsed() const {
  return options_.lease == lease_mode::strict && connected() && !over() && valid_until() <= now();
}

core::holder core::add_holder(condition& tell) {
  heartbeat_.notify();
  return holders_.insert(holders_.end(), &tell);
}

awaitable<void> core::prove_life() {
  co_await accept_cancellation();
  while (!ended_ && !closing_) {  // nothing can be sent, and nothing needs to be proved, while the session is closed
    const bool strict = options_.lease == lease_mode::strict;
    if (!connected() || (holders_.empty() && !strict)) {
      co_await heartbeat_.wait();
      continue;
    }
    if (auto due = lease_.heartbeat_due(); now() < due) {
      co_await heartbeat_.wait(due);
      continue;
    }
    const auto first = std::exchange(welcome_, nullptr);
    auto sent = first && !first->answer ? first : send(heartbeat());
    {
      std::lock_guard lock(mutex_);
      ++counters_.heartbeats;
    }
    auto got = co_await answer(sent);
    if (got.error) co_await heartbeat_.wait(now() + 50ms);  // refused: not again at once
  }
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
