// Coroutines: errors as values, many small ones at a time, one that goes on beside others.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace zkadmin {

/// Runs task(0) ... task(count - 1), at most `width` at a time, and completes when all are done. After the first
/// exception no further tasks begin; it is thrown once the running tasks have ended. A cancellation of the caller waits
/// for the tasks, too. For an executor of one thread.
boost::asio::awaitable<void> for_each_index(std::size_t count, std::size_t width,
                                            std::function<boost::asio::awaitable<void>(std::size_t)> task);

// A completion token for `co_await` that returns errors as values.

constexpr auto as_result = boost::asio::as_tuple(boost::asio::use_awaitable);

// A coroutine that goes on beside others, until it ends or nobody wants it any more.

/// Move-only. The destructor cancels the coroutine, which may end later: what it uses it has to own. For an executor of
/// one thread.
class background_task {
 public:
  background_task() = default;
  background_task(const boost::asio::any_io_executor& executor, boost::asio::awaitable<void> work)
      : stop_(std::make_shared<boost::asio::cancellation_signal>()) {
    const auto at_end = [stop = stop_](std::exception_ptr error) { rethrow_unless_cancelled(error); };
    boost::asio::co_spawn(executor, std::move(work), boost::asio::bind_cancellation_slot(stop_->slot(), at_end));
  }
  background_task(background_task&&) noexcept = default;
  background_task& operator=(background_task&& other) noexcept {
    stop();
    stop_ = std::move(other.stop_);
    return *this;
  }
  ~background_task() { stop(); }

 private:
  void stop() {
    if (stop_) stop_->emit(boost::asio::cancellation_type::terminal);
  }
  static void rethrow_unless_cancelled(std::exception_ptr error) {
    if (!error) return;
    try {
      std::rethrow_exception(error);
    } catch (const boost::system::system_error& why) {
      if (why.code() != boost::asio::error::operation_aborted) throw;
    }
  }

  std::shared_ptr<boost::asio::cancellation_signal> stop_;
};

}  // namespace zkadmin
