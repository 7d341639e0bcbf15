// Measuring times in coroutines.
#pragma once

#include <chrono>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace bench {

using clock = std::chrono::steady_clock;

inline double ms_between(clock::time_point begin, clock::time_point end) {
  return std::chrono::duration<double, std::milli>(end - begin).count();
}
inline double ms_since(clock::time_point begin) { return ms_between(begin, clock::now()); }

/// A moment that one coroutine waits for and another coroutine notes.
class moment {
 public:
  explicit moment(boost::asio::any_io_executor ex) : timer_(std::move(ex), clock::time_point::max()) {}
  void note() {
    at_ = clock::now();
    timer_.cancel();
  }
  boost::asio::awaitable<clock::time_point> wait() {
    if (at_ == clock::time_point{}) co_await timer_.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    co_return at_;
  }

 private:
  boost::asio::steady_timer timer_;
  clock::time_point at_{};
};

}  // namespace bench
