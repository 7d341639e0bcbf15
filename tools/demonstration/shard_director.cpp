#include "shard_director.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include "audit.hpp"
#include "phases.hpp"

namespace demo {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

shard_director::shard_director(asio::io_context& io, const direction& how)
    : stage(io, how),
      messages_(make_shard_source(source_, session_, how.work.shards, address_of_broker())),
      observer_(session_, how.work.shards, *messages_, [this](const std::string& text) {
        if (!is_settled_) say(text);
      }) {
  summary_.shards = how.work.shards;
  summary_.source = name_of(source_);
  summary_.broker_nodes = broker_ ? broker_->nodes() : 0;
  summary_.planned_kills = how.kills;
  summary_.planned_changes = how.changes;
  summary_.planned_broker_kills = how.broker_kills;
  summary_.planned_incidents = how.incidents;
}

/// Runs the rest of a fault beside the next ones. What it throws ends the run.
void shard_director::go_on_beside(awaitable<void> rest) {
  ++beside_;
  asio::co_spawn(io_, std::move(rest), [this](std::exception_ptr failure) {
    --beside_;
    if (failure) std::rethrow_exception(failure);
  });
}

shard_director::duration shard_director::up_to(duration most) {
  return duration(std::uniform_int_distribution<duration::rep>(0, most.count())(random_));
}

/// Waits until all messages are put and settled, and each shard is with its owner.
awaitable<void> shard_director::wait_settled() {
  co_await wait_produced();
  for (;;) {
    const auto left = co_await messages_->lag();
    const auto members = observer_.view().members.size();
    if (left == std::uint64_t{0} && observer_.owned() == summary_.shards &&
        members == static_cast<std::size_t>(how_.consumers))
      break;
    co_await pause_between();
  }
  const std::vector<backlog*> all{messages_.get()};
  co_await wait_in_hand(all);
  say("all messages are settled, and all shards are owned");
}

awaitable<void> shard_director::audit_all() {
  const auto results = co_await read_results(session_);
  const auto letters = co_await messages_->dead_letters();
  const auto marks = read_phases(phases_.path());
  judge(summary_, results, letters, marks);
}

awaitable<void> shard_director::run() {
  co_await prepare();
  asio::co_spawn(io_, observer_.run(), asio::detached);
  start_processes([](const std::string&) {});
  co_await make_trouble();
  while (beside_) co_await pause_between();
  co_await wait_settled();
  is_settled_ = true;
  summary_.owned = static_cast<std::uint32_t>(observer_.owned());
  summary_.joins = observer_.joins().size();
  const auto settled_ns = monotonic_ns();
  std::vector<std::int64_t> epochs;
  for (const auto& each : observer_.view().shards) epochs.push_back(each.epoch);
  co_await stop_processes();
  auto marks = read_phases(phases_.path());
  std::erase_if(marks, [&](const phase_mark& each) { return each.time_ns > settled_ns; });
  summary_.moves = count_moves(marks, epochs, observer_.joins());
  co_await audit_all();
  co_await session_.async_close(use_awaitable);
}

}  // namespace demo
