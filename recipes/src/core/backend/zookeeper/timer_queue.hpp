// The timers of a real world, on one timer of Boost.Asio.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backend/world.hpp"

namespace zkrecipes::backend {

/// Most waits of the library are cancelled long before their time. A timer of Boost.Asio for each of them would cost a
/// system call each. So the one timer is set when an earlier time is wanted, and stays set when that is cancelled: then
/// it runs out for nothing, once.
///
/// On the strand only, but for `stop` and the destructor.
class timer_queue : public std::enable_shared_from_this<timer_queue> {
 public:
  explicit timer_queue(boost::asio::any_io_executor strand) : timer_(std::move(strand)) {}
  ~timer_queue();
  timer_queue(const timer_queue&) = delete;
  timer_queue& operator=(const timer_queue&) = delete;

  /// Never calls back from inside the call.
  timer_id call_at(lease_clock::time_point when, std::function<void()> what);
  void cancel(timer_id id);
  /// Calls nothing from now on. On any thread.
  void stop() noexcept { is_stopped_ = true; }

 private:
  using entries = std::map<std::pair<lease_clock::time_point, timer_id>, std::function<void()>>;

  bool is_set_in_time(lease_clock::time_point when, lease_clock::time_point present) const;
  void set(lease_clock::time_point present);
  void unset();
  void ring();
  void call_due();

  boost::asio::steady_timer timer_;
  entries waiting_;
  std::unordered_map<timer_id, lease_clock::time_point> times_;
  timer_id last_ = 0;
  lease_clock::time_point set_to_ = lease_clock::time_point::min();  ///< In the past: the timer is not set.
  lease_clock::duration suspended_{0};                               ///< As it was when the timer was set.
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace zkrecipes::backend
