#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>

#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes::detail {

/// The timer of one operation, and the signal by which it is cancelled.
class within_limit : public std::enable_shared_from_this<within_limit> {
 public:
  explicit within_limit(boost::asio::any_io_executor on) : timer_(std::move(on)) {}

  boost::asio::cancellation_slot slot() noexcept { return signal_.slot(); }
  void cancel(boost::asio::cancellation_type how) { signal_.emit(how); }

  /// Called when the operation has begun: it may be over by then, on another thread.
  void start(lease_clock::duration limit) {
    std::lock_guard lock(mutex_);
    if (is_over_ || limit == lease_clock::duration::max()) return;
    timer_.expires_after(limit);
    timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
      auto alive = weak.lock();
      if (!error && alive) alive->time_is_up();
    });
  }

  /// The operation is over. True: by the limit.
  bool stop() {
    std::lock_guard lock(mutex_);
    is_over_ = true;
    timer_.cancel();
    return has_come_;
  }

 private:
  void time_is_up() {
    {
      std::lock_guard lock(mutex_);
      if (is_over_) return;
      has_come_ = true;
    }
    cancel(boost::asio::cancellation_type::terminal);
  }

  boost::asio::steady_timer timer_;
  boost::asio::cancellation_signal signal_;
  std::mutex mutex_;
  bool is_over_ = false;
  bool has_come_ = false;
};

}  // namespace zkrecipes::detail
