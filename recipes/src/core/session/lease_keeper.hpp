// Keeps the lease of a session: the requests that prove its life, and the holders that are told of its end.
#pragma once

#include <list>
#include <vector>

#include "session/requests.hpp"

namespace zkrecipes::detail {

/// While there are holders (in strict mode: always) it sends heartbeats to prove that the session lives, and probes
/// while somebody waits for a change of a node. On the strand.
class lease_keeper {
 public:
  lease_keeper(session_life& whose, requests_in_flight& through);

  /// `changed` is notified when the lease has ended.
  using holder = std::list<condition*>::iterator;
  holder add_holder(condition& changed);
  void remove_holder(holder which) noexcept { holders_.erase(which); }

  /// The session is there, and its lease does not hold for now: what is taken meanwhile is lost at once. Strict mode
  /// only: there the lease takes several heartbeats to hold again, and they are sent without a holder, too.
  bool has_lapsed() const;

 protected:
  ~lease_keeper() = default;
  /// Puts the next probes off: they are due an interval after the connection began, or the first one waits for a
  /// change.
  void delay_probes();
  bool has_holders() const noexcept { return !holders_.empty(); }
  /// The lease, the connection, or what waits for a change is another one: both loops look again.
  void wake() { changed_.notify(); }
  /// Sends the heartbeats: they prove that the session lives, and find out what no event has told. Until the session
  /// ends.
  awaitable<void> prove_life();
  /// Notifies all holders when the lease ends. They share one timer, because there may be thousands of them. (A holder
  /// without a connection, or with a request in flight, checks the clock itself.)
  awaitable<void> watch_lease();

 private:
  bool must_keep_lease() const;
  lease_clock::time_point next_beat() const;
  std::vector<exchange_ptr> beat();
  backend::request heartbeat() const;
  void log_lapse(lease_clock::time_point end);

  session_life& life_;
  requests_in_flight& requests_;
  condition changed_;
  std::list<condition*> holders_;
  lease_clock::time_point next_probe_{};    // of the nodes that are waited for
  lease_clock::time_point logged_lapse_{};  // the end of the lease that the log was told last
};

}  // namespace zkrecipes::detail
