#include "hold/alarm.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

#include <fcntl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/tasks.hpp"

namespace zkadmin {

boot_timer::boot_timer() : descriptor_(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "timerfd_create");
}

boot_timer::~boot_timer() { ::close(descriptor_); }

void boot_timer::set(zkrecipes::lease_clock::time_point when) noexcept {
  using namespace std::chrono_literals;
  const auto since_boot = std::max<std::chrono::nanoseconds>(when.time_since_epoch(), 1ns);  // 0 would unset it
  itimerspec at{};
  at.it_value.tv_sec = since_boot / 1s;
  at.it_value.tv_nsec = (since_boot % 1s).count();
  ::timerfd_settime(descriptor_, TFD_TIMER_ABSTIME, &at, nullptr);
}

void boot_timer::clear() noexcept {
  const itimerspec never{};
  ::timerfd_settime(descriptor_, 0, &never, nullptr);
}

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
