#include <utility>

#include "session/outcomes.hpp"
#include "shards/group_member.hpp"

namespace zkrecipes::detail {

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
