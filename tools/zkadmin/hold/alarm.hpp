// Waits for a time on the clock of leases, or for somebody who rings.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <zkrecipes/lease_clock.hpp>

namespace zkadmin {

/// Its descriptor is readable from the time on that it was set to. Processes that have inherited it share it: one sets
/// it, another one waits. The time of a suspended machine counts.
class boot_timer {
 public:
  /// \throws std::system_error
  boot_timer();
  ~boot_timer();
  boot_timer(const boot_timer&) = delete;

  void set(zkrecipes::lease_clock::time_point when) noexcept;
  void clear() noexcept;
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

// Waits for a time on the clock of leases, or for somebody who rings.

/// For one waiting coroutine, on one thread.
class alarm {
 public:
  explicit alarm(boost::asio::io_context& io);

  /// Returns at this time, or when it is rung; at once if that was done since the last wait.
  boost::asio::awaitable<void> wait_until(zkrecipes::lease_clock::time_point when);
  void ring();

 private:
  boot_timer timer_;
  boost::asio::posix::stream_descriptor expiry_;
  bool is_rung_ = false;
};

}  // namespace zkadmin
