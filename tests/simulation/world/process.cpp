#include "world/process.hpp"

#include <stdexcept>
#include <utility>

namespace zkrecipes::simulation {

namespace {
constexpr span epoch = std::chrono::hours(1);  // where each process's clock starts: zero means "never" in the library
constexpr std::int64_t million = 1'000'000;
}  // namespace

process::process(clockwork& clock, int number, std::int64_t parts_per_million, std::function<void()> stepped)
    : clock_(clock),
      number_(number),
      parts_per_million_(parts_per_million),
      stepped_(std::move(stepped)),
      io_(std::make_unique<asio::io_context>(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE)),
      strand_(asio::require(io_->get_executor(), asio::execution::blocking.never)) {}

lease_clock::time_point process::local(instant when) const {
  return lease_clock::time_point(epoch + when + when / million * parts_per_million_);
}

lease_clock::time_point process::now() {
  if (++looks_ > max_looks) {
    ran_away_ = true;  // noted here, too: the exception may end a coroutine whose result is not looked at
    throw std::runtime_error("busy loop");
  }
  return local(clock_.now());
}

instant process::true_time(lease_clock::time_point when) const {
  auto passed = when.time_since_epoch() - epoch;
  return passed - passed / (million + parts_per_million_) * parts_per_million_;
}

std::uint64_t process::call_at(lease_clock::time_point when, std::function<void()> what) {
  const auto timer = ++last_timer_;
  timers_.emplace(timer, std::move(what));
  auto due = true_time(when);
  while (local(due) < when) due += std::chrono::microseconds(1);
  clock_.at(due, [weak = weak_from_this(), timer] {
    if (auto self = weak.lock()) self->expire(timer);
  });
  return timer;
}

void process::expire(std::uint64_t timer) {
  if (!alive_ || !timers_.contains(timer)) return;
  if (paused_) return due_.push_back(timer);
  strand_.execute([this, timer] {
    auto found = timers_.find(timer);
    if (found == timers_.end()) return;  // cancelled while this handler was queued
    auto what = std::move(found->second);
    timers_.erase(found);
    what();
  });
  poll();
}

void process::receive(action what) {
  if (!alive_) return;
  if (paused_) return received_.push_back(std::move(what));
  strand_.execute(std::move(what));
  poll();
}

void process::run(const std::function<void()>& what) {
  if (!alive_) return;
  what();
  if (!paused_) poll();
}

void process::resume(bool network_first) {
  if (!std::exchange(paused_, false) || !alive_) return;
  auto receive_all = [this] {
    for (auto& each : std::exchange(received_, {})) strand_.execute(std::move(each));
    poll();
  };
  if (network_first) receive_all();
  for (auto timer : std::exchange(due_, {})) expire(timer);
  receive_all();
}

void process::kill(const std::function<void()>& drop) {
  if (!std::exchange(alive_, false)) return;
  drop();
  // Destroy the handlers of timers and of the network while the executor still exists, because they may use it.
  std::exchange(timers_, {});
  std::exchange(kept_, {});
  received_.clear();
  due_.clear();
  strand_ = {};
  io_.reset();
  timers_.clear();
}

void process::poll() {
  io_->restart();
  int handlers = 0;
  looks_ = 0;
  around_(true);
  const auto leave = [this](process*) { around_(false); };
  std::unique_ptr<process, decltype(leave)> inside(this, leave);
  try {
    while (handlers < max_handlers && io_->poll_one() > 0) ++handlers;
  } catch (const std::runtime_error&) {
    handlers = max_handlers;
  }
  inside.reset();
  ran_away_ = ran_away_ || handlers == max_handlers;
  looks_ = 0;
  stepped_();
}

}  // namespace zkrecipes::simulation
