// The faults, and the waiting between them.
#include <csignal>
#include <stdexcept>

#include "director.hpp"

namespace demo {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

awaitable<void> director::wait_leader(std::int64_t after) {
  while (observer_.view().epoch <= after || observer_.view().phase != zkrecipes::term_phase::executing ||
         leading_index() < 0) {
    co_await pause_between();
  }
}

/// Again if a message has killed the leader meanwhile.
awaitable<void> director::planned_hand_over() {
  zkrecipes::election election(session_, election_path, {.id = "director"});
  for (;;) {
    co_await wait_leader(0);
    const auto epoch = observer_.view().epoch;
    say("asking " + observer_.view().leader + " to hand over");
    observer_.terms()[epoch].ended = "resign";
    co_await election.async_request_resignation(use_awaitable);
    co_await wait_leader(epoch);
    if (observer_.terms()[epoch].ended == "resign") co_return;
  }
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

awaitable<void> director::cause(fault_kind what) {
  switch (what) {
    case fault_kind::resign: return planned_hand_over();
    case fault_kind::kill: return kill_consumer();
    case fault_kind::pause: return pause_consumer();
    case fault_kind::kill_server: return kill_server_leader();
    case fault_kind::start_server: return start_server();
    default: throw std::logic_error("a fault of shards");
  }
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
