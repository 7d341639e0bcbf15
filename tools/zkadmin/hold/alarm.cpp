#include "hold/alarm.hpp"

#include <fcntl.h>

#include "as_result.hpp"

namespace zkadmin {

namespace asio = boost::asio;

alarm::alarm(asio::io_context& io) : expiry_(io, ::fcntl(timer_.descriptor(), F_DUPFD_CLOEXEC, 0)) {}

asio::awaitable<void> alarm::wait_until(zkrecipes::lease_clock::time_point when) {
  timer_.set(when);
  if (!is_rung_) co_await expiry_.async_wait(asio::posix::stream_descriptor::wait_read, as_result);
  is_rung_ = false;
}

void alarm::ring() {
  is_rung_ = true;
  expiry_.cancel();
}

}  // namespace zkadmin
