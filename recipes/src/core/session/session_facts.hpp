// What any thread may ask of a session: its status, its counters and its lease. Written on the strand.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <zkrecipes/session.hpp>

#include "session/incarnation.hpp"
#include "session/lease.hpp"
#include "session/scheduler.hpp"

namespace zkrecipes::detail {

class session_facts {
 public:
  session_facts(scheduler_ptr on, const session_options& options);

  // From any thread.
  session_status status() const;
  session_counters counters() const;
  /// The end of the lease. The clock's zero if there is no lease, or if the present incarnation does not have this
  /// number (0: any incarnation).
  lease_clock::time_point valid_until(std::uint64_t number = 0) const;
  /// No error until `valid_until`, by the clock of this moment; else why it is past.
  error_code invalid(std::uint64_t number) const;

  // On the strand.
  /// Counts one event, or several. Returns how many there have been.
  std::uint64_t count(std::uint64_t session_counters::*which, std::uint64_t by = 1);
  /// `present`: null if there is no incarnation.
  void enter(session_state state, const error_code& reason, const incarnation* present, std::string server);
  void show_failures(std::vector<connection_failure> all);
  /// A server has answered a request. True if the lease was over and holds again.
  bool acknowledged(lease_clock::time_point sent, witness by);
  const lease& present_lease() const noexcept { return lease_; }

 protected:
  ~session_facts() = default;
  void show_guarded(bool is_held);
  /// A server has granted the session that was requested at `asked`. A new incarnation gets its number here.
  void on_granted(incarnation& present, bool is_new, lease_clock::time_point asked);
  /// The user closes the session: no lease is valid any more.
  void give_up_lease();

 private:
  scheduler_ptr scheduler_;
  lease_mode mode_;
  std::chrono::milliseconds margin_;  // 0: a tenth of the timeout

  mutable std::mutex mutex_;  // guards all below
  session_status status_;
  session_counters counters_;
  lease lease_;
  bool given_up_ = false;
};

}  // namespace zkrecipes::detail
