#include "director.hpp"

#include <algorithm>
#include <csignal>
#include <exception>
#include <iterator>

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

}  // namespace demo
