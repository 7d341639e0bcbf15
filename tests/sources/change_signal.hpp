// Wakes coroutines of one thread when something in memory has changed.
#pragma once

#include <set>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace zkrecipes::test {

class change_signal {
 public:
  /// Throws `operation_aborted` if the coroutine is cancelled.
  boost::asio::awaitable<void> wait() {
    const auto executor = co_await boost::asio::this_coro::executor;
    place here(*this, executor);
    boost::system::error_code error;
    co_await here.timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, error));
    const auto state = co_await boost::asio::this_coro::cancellation_state;
    const bool is_cut = state.cancelled() != boost::asio::cancellation_type::none;
    if (is_cut) throw boost::system::system_error(boost::asio::error::operation_aborted);
  }
  void notify() {
    for (auto* each : waiting_) each->cancel();
  }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  using timer_type = boost::asio::steady_timer;

  struct place {
    place(change_signal& of, const boost::asio::any_io_executor& executor)
        : whose(of), timer(executor, timer_type::time_point::max()) {
      whose.waiting_.insert(&timer);
    }
    ~place() { whose.waiting_.erase(&timer); }
    place(const place&) = delete;

    change_signal& whose;
    timer_type timer;
  };

  std::set<timer_type*> waiting_;
};

}  // namespace zkrecipes::test
