#include <algorithm>
#include <utility>

#include "session/outcomes.hpp"
#include "shards/group_member.hpp"

namespace zkrecipes::detail {

/// The run ends for want of memory.
awaitable<void> group_member::abandon() {
  stopping_ = at_once_ = true;
  cancel(joining_, asio::cancellation_type::total);
  while (joining_ && !joining_->done) co_await changed_.wait();
  joining_.reset();
  co_await end_membership();
}

awaitable<void> group_member::end_membership() {
  while (!holdings_.empty()) {  // those of a membership that was lost end by themselves
    give_all_up(at_once_);
    forget_holdings();
    publish();
    if (!holdings_.empty()) co_await changed_.wait();
  }
  if (node_) co_await leave();
  publish();
}

/// Whether only the ends of terms are still to be written, for a session timeout already, and we are to leave: without
/// our node the heirs do not wait for us.
bool group_member::has_waited_enough() {
  const bool is_served = std::ranges::all_of(holdings_, [](const auto& each) { return each.second->is_served(); });
  if (!stopping_ || holdings_.empty() || !is_served) {
    leave_by_ = never;
  } else if (leave_by_ == never) {
    leave_by_ = session()->now() + session()->options().timeout;
  }
  return session()->now() >= leave_by_;
}

/// Nothing is ours any more but our node.
awaitable<void> group_member::leave() {
  const auto grace = group_->options.grace.value_or(session()->options().timeout);
  auto own = orders_.own;
  for (const auto each : orders_.expect) own.insert(each);
  const bool may_return = stopping_ && grace.count() > 0 && !own.empty();
  if (may_return && !node_->lost()) co_await leave_for_a_while(std::move(own));
  co_await node_->leave();
  node_.reset();
}

/// Leaves, and tells in the same transaction that our shards are to wait for us.
awaitable<void> group_member::leave_for_a_while(shard_set own) {
  const auto present = present_record();
  away_record note{present.id, present.capacity, present.grace, std::move(own), node_->name()};
  const auto path = group_->where.away_of(note.id);
  const auto deadline = session()->now() + session()->options().timeout;
  transaction first;
  first.create(path, serialize(note)).remove(node_->path());
  transaction again;
  // A note that is written over tells nobody; a child that comes and goes tells the planner.
  const auto sign = path + "%";
  again.set(path, serialize(note)).create(sign).remove(sign).remove(node_->path());
  const auto bound = node_->bound();
  node_->disown();
  error_code error;
  bool is_there = false;  // a note of ours: an older one, or that of a try whose reply was lost
  do {
    auto multi = backend::make_multi(is_there ? again : first);
    auto done = co_await session()->perform(std::move(multi), retry::once, bound, deadline);
    error = done.error;
    if (error == errc::node_exists && !std::exchange(is_there, true)) error = errc::connection_loss;  // another try
  } while (is_reply_lost(error) && session()->now() < deadline);
  node_->clear_away(bool(error));
}

}  // namespace zkrecipes::detail
