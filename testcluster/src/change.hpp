#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

namespace testcluster::detail {

/// A condition variable for the coroutines of one thread. A coroutine that wakes up has to check its condition again.
class change {
 public:
  explicit change(boost::asio::io_context& io) : timer_(io, boost::asio::steady_timer::time_point::max()) {}
  void notify() { timer_.cancel(); }
  boost::asio::awaitable<void> wait();

 private:
  boost::asio::steady_timer timer_;
};

}  // namespace testcluster::detail
