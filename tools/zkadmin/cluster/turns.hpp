// Lets a bounded number of coroutines through at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "as_result.hpp"

namespace zkadmin {

/// For an executor of one thread. Held by `shared_ptr`, which each turn keeps.
class turns : public std::enable_shared_from_this<turns> {
 public:
  turns(const boost::asio::any_io_executor& executor, std::size_t width)
      : free_(width), wake_(executor, boost::asio::steady_timer::time_point::max()) {}

  /// Move-only. The destructor lets the next one through.
  class turn {
   public:
    explicit turn(std::shared_ptr<turns> of) : of_(std::move(of)) {}
    turn(turn&&) noexcept = default;
    turn& operator=(turn&&) = delete;
    ~turn() {
      if (of_) of_->leave();
    }

   private:
    std::shared_ptr<turns> of_;
  };

  boost::asio::awaitable<turn> enter() {
    const auto self = shared_from_this();
    while (free_ == 0) co_await wake_.async_wait(as_result);
    --free_;
    co_return turn(self);
  }

 private:
  void leave() {
    ++free_;
    wake_.cancel_one();
  }

  std::size_t free_;
  boost::asio::steady_timer wake_;
};

}  // namespace zkadmin
