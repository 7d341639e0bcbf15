// The faults, and the waiting between them.
#include <algorithm>
#include <csignal>
#include <stdexcept>

#include "director.hpp"

namespace demo {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

awaitable<void> director::pause_between() {
  asio::steady_timer pause(io_, std::chrono::milliseconds(50));
  co_await pause.async_wait(use_awaitable);
  if (std::chrono::steady_clock::now() - begin_ > times_.patience) throw std::runtime_error("the run takes too long");
}

/// Waits for a share of the messages that can be processed.
awaitable<void> director::wait_processed(double share) {
  const auto good = work_.messages() - work_.bad().size();
  const auto enough = static_cast<std::uint64_t>(std::min(share, 1.0) * static_cast<double>(good));
  for (;;) {
    const auto count = co_await progress_.processed();
    if (count >= enough) co_return;
    co_await pause_between();
  }
}

awaitable<void> director::wait_leader(std::int64_t after) {
  while (observer_.view().epoch <= after || observer_.view().phase != zkrecipes::term_phase::executing ||
         leading_index() < 0) {
    co_await pause_between();
  }
}

/// Waits until one more message is processed, or all are.
awaitable<void> director::wait_progress() {
  const auto good = work_.messages() - work_.bad().size();
  const auto since = co_await progress_.processed();
  for (;;) {
    const auto count = co_await progress_.processed();
    if (count > since || count >= good) co_return;
    co_await pause_between();
  }
}

awaitable<void> director::planned_hand_over() {
  co_await wait_leader(0);
  const auto epoch = observer_.view().epoch;
  say("asking " + observer_.view().leader + " to hand over");
  observer_.terms()[epoch].ended = "resign";
  zkrecipes::election election(session_, election_path, {.id = "director"});
  co_await election.async_request_resignation(use_awaitable);
  co_await wait_leader(epoch);
}

/// Kills a leader that has begun to work: one that is killed at once, again and again, would count the attempts of good
/// messages.
awaitable<void> director::kill_consumer() {
  for (;;) {
    co_await wait_leader(0);  // between two terms there is nobody to stop
    co_await wait_progress();
    const auto epoch = observer_.view().epoch;
    const int index = leading_index();
    if (index < 0 || observer_.terms()[epoch].ended == "kill" || !consumers_.silence(index, SIGKILL)) continue;
    say("SIGKILL to the leading " + consumers_.id(index));
    observer_.terms()[epoch].ended = "kill";
    co_await wait_leader(epoch);
    consumers_.start(index);
    co_return;
  }
}

awaitable<void> director::pause_consumer() {
  for (;;) {
    co_await wait_leader(0);  // between two terms there is nobody to stop
    const auto epoch = observer_.view().epoch;
    const int index = leading_index();
    if (!consumers_.silence(index, SIGSTOP)) {
      co_await pause_between();
      continue;
    }
    say("SIGSTOP to the leading " + consumers_.id(index));
    observer_.terms()[epoch].ended = "pause";
    co_await wait_leader(epoch);
    co_await wait_progress();
    say("SIGCONT to " + consumers_.id(index));
    consumers_.resume(index);
    co_return;
  }
}

awaitable<void> director::kill_server_leader() {
  std::function<void()> find = [this] { killed_server_ = ensemble_.leader(); };
  co_await blocking(find);
  say("SIGKILL to server " + std::to_string(killed_server_) + ", the leader of the ensemble");
  std::function<void()> kill = [this] { ensemble_.kill(killed_server_); };
  co_await blocking(kill);
  ++summary_.server_leaders_killed;
}

awaitable<void> director::start_server() {
  std::function<void()> start = [this] { ensemble_.start(killed_server_); };
  co_await blocking(start);
  say("server " + std::to_string(killed_server_) + " is back");
}

awaitable<void> director::cause(fault_kind what) {
  switch (what) {
    case fault_kind::resign: return planned_hand_over();
    case fault_kind::kill: return kill_consumer();
    case fault_kind::pause: return pause_consumer();
    case fault_kind::kill_server: return kill_server_leader();
    case fault_kind::start_server: break;
  }
  return start_server();
}

awaitable<void> director::make_trouble() {
  const auto plan = plan_faults(how_.kills, how_.server_kills);
  const double spread = 0.6 / static_cast<double>(plan.size() + 10);
  for (const auto& each : plan) {
    const auto jitter = std::uniform_real_distribution<double>(0, spread)(random_);
    co_await wait_leader(0);
    co_await wait_processed(each.share + jitter);
    co_await cause(each.kind);
  }
}

}  // namespace demo
