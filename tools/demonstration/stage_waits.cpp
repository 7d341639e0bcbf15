// The waiting of a director, and the faults of servers, which take long.
#include <algorithm>
#include <stdexcept>

#include "stage.hpp"

namespace demo {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

awaitable<void> stage::wait_for(duration length) {
  asio::steady_timer pause(io_, length);
  co_await pause.async_wait(use_awaitable);
}

awaitable<void> stage::pause_between() {
  constexpr duration moment(50);
  co_await wait_for(moment);
  if (std::chrono::steady_clock::now() - begin_ > times_.patience) throw std::runtime_error("the run takes too long");
}

awaitable<void> stage::wait_processed(double share) {
  const auto enough = static_cast<std::uint64_t>(std::min(share, 1.0) * static_cast<double>(good_messages()));
  for (;;) {
    const auto count = co_await progress_.processed();
    if (count >= enough) co_return;
    co_await pause_between();
  }
}

awaitable<void> stage::wait_progress() {
  const auto since = co_await progress_.processed();
  for (;;) {
    const auto count = co_await progress_.processed();
    if (count > since || count >= good_messages()) co_return;
    co_await pause_between();
  }
}

awaitable<void> stage::wait_empty(backlog& which) {
  for (;;) {
    const auto left = co_await which.lag();
    if (left == std::uint64_t{0}) co_return;
    co_await pause_between();
  }
}

/// A message that is lost is never settled, so the wait ends also if nothing is settled for a while.
awaitable<void> stage::wait_in_hand(const std::vector<backlog*>& all) {
  constexpr std::chrono::seconds quiet(20);
  if (all.back()->counts_in_hand()) co_return;
  std::uint64_t before = 0;
  auto since = std::chrono::steady_clock::now();
  for (;;) {
    auto settled = co_await progress_.processed();
    for (auto* each : all) {
      const auto letters = co_await each->dead_letters();
      settled += letters.size();
    }
    const auto now = std::chrono::steady_clock::now();
    if (settled > before) since = now;
    before = settled;
    if (settled >= work_.messages() || now - since > quiet) co_return;
    co_await pause_between();
  }
}

/// Runs a function of the ensemble on another thread: these functions block, and our session must go on sending
/// heartbeats.
awaitable<void> stage::blocking(std::function<void()> call) {
  auto body = [](std::function<void()> what) -> awaitable<void> {
    what();
    co_return;
  };
  co_await asio::co_spawn(blocking_pool_, body(std::move(call)), use_awaitable);
}

awaitable<void> stage::kill_server_leader() {
  std::function<void()> find = [this] { killed_server_ = ensemble_.leader(); };
  co_await blocking(find);
  say("SIGKILL to server " + std::to_string(killed_server_) + ", the leader of the ensemble");
  std::function<void()> kill = [this] { ensemble_.kill(killed_server_); };
  co_await blocking(kill);
  ++server_leaders_killed_;
}

awaitable<void> stage::start_server() {
  if (killed_server_ == 0) co_return;  // it was started with all others, behind a restored backup
  std::function<void()> start = [this] { ensemble_.start(killed_server_); };
  co_await blocking(start);
  say("server " + std::to_string(killed_server_) + " is back");
}

}  // namespace demo
