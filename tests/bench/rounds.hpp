// Figures that are compared are measured in turns, one round of each after the other on the same server, so that other
// work of the machine affects all of them.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "table.hpp"

namespace bench {

// Measuring times in coroutines.

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

/// The median and the spread of the samples.
figure summary(std::vector<double> samples);

/// Something that is measured against others. `round` does one round of a line and returns its rate or time; nothing if
/// there is no such operation.
struct contestant {
  figure row::*column;
  std::function<std::optional<double>(const std::string& line)> round;
};

/// Does one round of each that does not count, then `rounds` rounds of each; every time another one begins. Each cell
/// is the median, with the distance between the least and the largest as a part of it.
row measure_in_turns(const std::string& line, const std::string& unit, const std::vector<contestant>& all, int rounds);

}  // namespace bench
