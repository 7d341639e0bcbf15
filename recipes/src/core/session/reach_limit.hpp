// Ends operations that wait for a connection: `retry_policy::limit` of all of a session's, with one timer.
#pragma once

#include <chrono>
#include <list>

#include <boost/asio/cancellation_signal.hpp>

#include "backend/world.hpp"
#include "session/scheduler.hpp"

namespace zkrecipes::detail {

/// An operation is over when the session has had no connection for `limit` since the operation began. A connection that
/// breaks later gives it `limit` from then. On the strand.
class reach_limit {
 public:
  /// `limit`: zero means none. `world` has to live as long.
  reach_limit(backend::world& world, std::chrono::milliseconds limit) : world_(world), limit_(limit) {}
  reach_limit(const reach_limit&) = delete;
  ~reach_limit() { stop_timer(); }

  /// One operation, for as long as it lives.
  class waiting {
   public:
    waiting(reach_limit& in, asio::cancellation_signal& signal);
    waiting(const waiting&) = delete;
    ~waiting();
    /// Whether the operation was cancelled for want of a connection.
    bool is_over() const noexcept { return is_over_; }
    /// Whether there was a connection while the operation waited, so that a request may have been sent.
    bool had_connection() const noexcept { return in_.is_connected_ || in_.since_ >= since_; }

   private:
    friend class reach_limit;
    reach_limit& in_;
    asio::cancellation_signal& signal_;
    lease_clock::time_point since_;
    bool is_over_ = false;
    std::list<waiting*>::iterator here_;
  };

  void connected();
  void disconnected();

 private:
  void set_timer();
  void stop_timer();
  void end_late();

  backend::world& world_;
  std::chrono::milliseconds limit_;
  std::list<waiting*> all_;  // in the order in which they began, or since when they have had no connection
  bool is_connected_ = false;
  lease_clock::time_point since_ = lease_clock::time_point::min();  // when the last connection broke
  backend::timer_id timer_ = 0;
};

}  // namespace zkrecipes::detail
