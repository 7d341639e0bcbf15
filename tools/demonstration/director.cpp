#include "director.hpp"

#include <algorithm>
#include <csignal>
#include <exception>
#include <iterator>
#include <stdexcept>

#include "audit.hpp"
#include "phases.hpp"
#include "shard_source.hpp"

namespace demo {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

namespace {

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

director::director(asio::io_context& io, const direction& how)
    : stage(io, how), observer_(session_, [this](const std::string& text) { say(text); }) {
  summary_.planned_kills = how.kills;
  for (const auto each : how.sources) {
    if (each == source_kind::queue)
      backlogs_.push_back(make_queue_backlog(session_));
    else
      backlogs_.push_back(make_shard_source(each, session_, 1, address_of_broker()));
  }
}

/// Moves to the other sources as docs/sources.md says, one after the other, while the consumers work.
awaitable<void> director::move_on() {
  for (std::size_t next = 1; next < how_.sources.size(); ++next) {
    co_await wait_produced();
    start_producer(next);
    co_await wait_empty(*backlogs_[next - 1]);
    source_ = how_.sources[next];
    say("the consumers go on with the " + name_of(source_));
    for (int i = 0; i < consumers_.size(); ++i) asio::co_spawn(io_, switch_consumer(i), rethrow);
    moves_ = next;
  }
}

/// One that has ended already is started by the fault that has ended it.
awaitable<void> director::switch_consumer(int index) {
  if (!consumers_.dismiss(index, SIGTERM)) co_return;
  while (consumers_.is_running(index)) co_await pause_between();
  consumers_.start(index);
}

/// Waits until all messages are put, and all sources are empty: each message is done or parked.
awaitable<void> director::wait_settled() {
  while (moves_ + 1 < how_.sources.size()) co_await pause_between();
  co_await wait_produced();
  co_await wait_empty(*backlogs_[moves_]);
  std::vector<backlog*> all;
  for (const auto& each : backlogs_) all.push_back(each.get());
  co_await wait_in_hand(all);
}

awaitable<void> director::audit_all() {
  const auto results = co_await read_results(session_);
  std::vector<zkrecipes::dead_letter> letters;
  for (const auto& each : backlogs_) {
    auto more = co_await each->dead_letters();
    std::ranges::move(more, std::back_inserter(letters));
  }
  for (const auto each : how_.sources) summary_.sources.push_back(name_of(each));
  summary_.terms = observer_.terms();
  complete(summary_.terms, results);
  summary_.saw_hand_over = observer_.saw_hand_over();
  const auto marks = read_phases(phases_.path());
  judge(summary_, results, letters, marks);
}

/// Its successor may lead by now.
void director::record_death(const std::string& id) {
  auto& terms = observer_.terms();
  const auto led = [&](const auto& each) { return each.second.leader == id; };
  const auto last = std::find_if(terms.rbegin(), terms.rend(), led);
  if (last == terms.rend()) return;
  if (last->second.ended.empty() || observer_.view().leader == id) last->second.ended = "died";
}

awaitable<void> director::run() {
  co_await prepare();
  asio::co_spawn(io_, observer_.run(), asio::detached);
  start_processes([this](const std::string& id) { record_death(id); });
  asio::co_spawn(io_, move_on(), rethrow);
  co_await make_trouble();
  co_await wait_settled();
  co_await stop_processes();
  co_await audit_all();
  co_await session_.async_close(use_awaitable);
}

// The faults, and the waiting between them.

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
