#include "session/lease_keeper.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

lease_keeper::lease_keeper(session_life& whose, requests_in_flight& through)
    : life_(whose), requests_(through), changed_(whose.get_scheduler()) {}

lease_keeper::holder lease_keeper::add_holder(condition& changed) {
  wake();
  return holders_.insert(holders_.end(), &changed);
}

bool lease_keeper::has_lapsed() const {
  const bool is_strict = life_.options().lease == lease_mode::strict;
  return is_strict && requests_.connected() && !life_.over() && life_.valid_until() <= life_.now();
}

void lease_keeper::delay_probes() { next_probe_ = life_.now() + life_.present_lease().interval(); }

awaitable<void> lease_keeper::prove_life() {
  co_await accept_cancellation();
  while (!life_.over()) {  // nothing can be sent, and nothing needs to be proved, while the session is closed
    if (const auto due = next_beat(); life_.now() < due) {
      co_await changed_.wait(due);
      continue;
    }
    const auto sent = beat();
    error_code error;
    for (const auto& each : sent) {
      auto got = co_await requests_.answer(each);
      if (got.error && got.error != errc::no_node) error = got.error;
    }
    if (error) co_await changed_.wait(life_.now() + 50ms);  // refused: not again at once
  }
}

bool lease_keeper::must_keep_lease() const { return !holders_.empty() || life_.options().lease == lease_mode::strict; }

/// When the next heartbeat is due: one that keeps the lease if there is a holder, one that probes if somebody waits for
/// a change.
lease_clock::time_point lease_keeper::next_beat() const {
  if (!requests_.connected()) return never;
  const auto due = must_keep_lease() ? life_.present_lease().heartbeat_due() : never;
  return requests_.watches()->size() > 0 ? std::min(due, next_probe_) : due;
}

/// One heartbeat. Where the answer of any server keeps the lease, a probe takes the place of the request that would
/// show nothing else.
std::vector<exchange_ptr> lease_keeper::beat() {
  std::vector<exchange_ptr> sent;
  const auto& lease = life_.present_lease();
  const bool is_due = must_keep_lease() && life_.now() >= lease.heartbeat_due();
  const bool probe_will_do = lease.heartbeat_needs() == witness::server;
  std::vector<std::string> probes;
  if (probe_will_do || life_.now() >= next_probe_) {
    probes = requests_.watches()->next_probes();
    delay_probes();
  }
  auto welcome = is_due ? requests_.take_welcome() : nullptr;
  if (welcome) {
    sent.push_back(std::move(welcome));
  } else if (is_due && !(probe_will_do && !probes.empty())) {
    sent.push_back(requests_.send(heartbeat()));
  }
  for (auto& each : probes) sent.push_back(requests_.send(make_probe(backend::opcode::exists, std::move(each))));
  life_.count(&session_counters::heartbeats, sent.size());
  return sent;
}

/// The cheapest request whose answer comes from the witness that the lease needs.
backend::request lease_keeper::heartbeat() const {
  switch (life_.present_lease().heartbeat_needs()) {
    case witness::quorum: return backend::make_catch_up();
    case witness::leader: return make_request(backend::opcode::sync, "/");
    case witness::server: break;
  }
  return make_request(backend::opcode::exists, "/");
}

/// Once for each end of a lease; the end of the incarnation has an event of its own.
void lease_keeper::log_lapse(lease_clock::time_point end) {
  if (std::exchange(logged_lapse_, end) != end && end != lease_clock::time_point{}) life_.log().lease_lapsed();
}

awaitable<void> lease_keeper::watch_lease() {
  co_await accept_cancellation();
  while (!life_.over()) {
    const auto until = holders_.empty() ? never : life_.valid_until();
    const bool is_over = until <= life_.now();
    if (is_over) {
      log_lapse(until);
      for (auto* each : holders_) each->notify();
    }
    co_await changed_.wait(is_over ? never : until);
  }
}

}  // namespace zkrecipes::detail
