// Holds a coroutine back until the test opens it.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace zkrecipes::test {

class hold_point {
 public:
  explicit hold_point(boost::asio::any_io_executor executor) : timer_(executor, timer::time_point::max()) {}

  /// Throws `operation_aborted` if it is cancelled before it is open.
  boost::asio::awaitable<void> pass() {
    ++waiting_;
    boost::system::error_code error;
    while (!open_ && !cut_) {
      co_await timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, error));
      const auto state = co_await boost::asio::this_coro::cancellation_state;
      cut_ = !open_ && state.cancelled() != boost::asio::cancellation_type::none;
    }
    --waiting_;
    if (cut_) throw boost::system::system_error(boost::asio::error::operation_aborted);
  }

  /// Like `pass`, but a cancellation does not end it.
  boost::asio::awaitable<void> pass_in_the_end() {
    co_await boost::asio::this_coro::reset_cancellation_state(boost::asio::disable_cancellation());
    co_await boost::asio::this_coro::throw_if_cancelled(false);
    co_await pass();
  }

  void open() {
    open_ = true;
    timer_.cancel();
  }

  bool is_reached() const { return waiting_ > 0; }
  bool was_cut() const { return cut_; }

 private:
  using timer = boost::asio::steady_timer;
  timer timer_;
  int waiting_ = 0;
  bool open_ = false;
  bool cut_ = false;
};

}  // namespace zkrecipes::test
