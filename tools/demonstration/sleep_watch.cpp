#include "sleep_watch.hpp"

#include <utility>

#include <boost/asio.hpp>

#include <zkrecipes/lease_clock.hpp>

namespace demo {

namespace asio = boost::asio;

sleep_watch::sleep_watch(zkrecipes::session over, std::chrono::nanoseconds margin)
    : session_(std::move(over)), limit_(margin / 2), last_ns_(monotonic_ns()) {}

std::optional<std::int64_t> sleep_watch::look() {
  const auto now = monotonic_ns();
  const auto before = std::exchange(last_ns_, now);
  const bool was_late = now - before > limit_.count();
  if (!was_late || session_.valid_until() > zkrecipes::lease_clock::now()) return std::nullopt;
  return before;
}

asio::awaitable<void> sleep_watch::run(phase_log& log, std::string consumer) {
  asio::steady_timer timer(session_.get_executor());
  for (;;) {
    log.look(consumer);
    timer.expires_after(limit_ / 2);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

}  // namespace demo
