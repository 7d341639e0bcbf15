// Waits for a time on the clock of leases, or for somebody who rings.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <zkrecipes/lease_clock.hpp>

#include "hold/boot_timer.hpp"

namespace zkadmin {

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
