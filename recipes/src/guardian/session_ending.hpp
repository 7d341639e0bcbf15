// The steps of `end_dead_session`.
#pragma once

#include <memory>
#include <vector>

#include "guardian/dead_session.hpp"
#include "guardian/dead_terms.hpp"
#include "guardian/lone_link.hpp"
#include "session/back_off.hpp"
#include "session/server_list.hpp"

namespace zkrecipes::detail {

/// On the strand.
class session_ending {
 public:
  session_ending(scheduler_ptr on, dead_session what, lease_clock::time_point deadline);

  awaitable<dead_session_result> run();

 private:
  bool is_over() const { return is_closed_ || stopped_ || on_->now() >= deadline_; }
  lease_clock::time_point limit() const;
  void lengthen_time_limit();
  dead_session_result result() const;
  awaitable<void> resolve_names();
  awaitable<void> wait_until(lease_clock::time_point when);
  awaitable<void> end_at(backend::endpoint server);
  void handle_refusal(const error_code& why);
  awaitable<error_code> write_deaths(lone_link& link);
  awaitable<error_code> look(lone_link& link);

  scheduler_ptr on_;
  dead_session what_;
  lease_clock::time_point deadline_;
  lease_clock::time_point records_by_;  // half of the time: later the session is closed without its records
  dead_terms terms_;
  server_list servers_;
  back_off pause_;
  condition changed_;
  std::chrono::milliseconds time_limit_;  // with one server
  int lost_ = 0;                          // connections, over the records
  bool was_resumed_ = false;              // at least once
  bool is_closed_ = false;
  bool is_busy_ = false;  // the server could not catch up
  error_code stopped_;    // by the caller
};

}  // namespace zkrecipes::detail
