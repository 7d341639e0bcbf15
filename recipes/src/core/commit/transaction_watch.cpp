#include "commit/transaction_watch.hpp"

#include <utility>

namespace zkrecipes::detail {

using backend::opcode;

transaction_watch::transaction_watch(core_ptr session, std::string node)
    : session_(std::move(session)), node_(std::move(node)), changed_(session_->get_scheduler()) {}

awaitable<commit_sight> transaction_watch::look() {
  decided_ = session_->arm(watch_kind::data, node_, changed_);
  voted_ = session_->arm(watch_kind::children, node_, changed_);
  return look_at_commit(session_, node_, persistence::endless, true, true);
}

/// For a vote only the list of votes is read again, because the record may be large.
awaitable<commit_sight> transaction_watch::wait_votes(commit_sight seen, lease_clock::time_point deadline) {
  while (!missing_votes(seen.record, seen.children).empty() && session_->now() < deadline && !decided_->fired()) {
    if (voted_->fired()) {
      voted_ = session_->arm(watch_kind::children, node_, changed_);
      auto list = make_request(opcode::children, node_, true);
      auto listed = co_await session_->perform(std::move(list), retry::always);
      seen.error = listed.error;
      if (seen.error) break;
      seen.children = std::move(listed.children);
    } else {
      auto why = co_await changed_.wait(deadline);
      if (why == wake::cancelled) seen.error = asio::error::operation_aborted;
      if (seen.error) break;
    }
  }
  co_return seen;
}

}  // namespace zkrecipes::detail
