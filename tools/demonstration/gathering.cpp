#include "gathering.hpp"

#include <utility>

#include <boost/asio.hpp>

namespace demo {

namespace asio = boost::asio;

gathering::gathering(asio::any_io_executor where) : done_(std::move(where)) {
  done_.expires_at(asio::steady_timer::time_point::max());
}

void gathering::add(asio::awaitable<void> part) {
  ++pending_;
  asio::co_spawn(done_.get_executor(), std::move(part), [this](std::exception_ptr failure) {
    if (failure) failure_ = failure;
    if (--pending_ == 0) done_.cancel();
  });
}

asio::awaitable<void> gathering::wait() {
  constexpr auto token = asio::as_tuple(asio::use_awaitable);
  if (pending_) co_await done_.async_wait(token);
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace demo
