#pragma once

#include <cstddef>
#include <exception>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

namespace demo {

/// Runs coroutines beside each other, so that their requests share round trips. It must outlive them.
class gathering {
 public:
  explicit gathering(boost::asio::any_io_executor where);

  void add(boost::asio::awaitable<void> part);
  /// Waits until all parts have ended. \throws what one of them has thrown
  boost::asio::awaitable<void> wait();

 private:
  std::size_t pending_ = 0;
  std::exception_ptr failure_;
  boost::asio::steady_timer done_;
};

}  // namespace demo
