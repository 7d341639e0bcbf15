// Deciding.
#include <utility>

#include "commit/commit_transaction.hpp"
#include "commit/transaction_watch.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// Another client that has written the decision has this long to move the mark.
constexpr auto time_to_move = std::chrono::seconds(1);

commit_outcome time_is_up(const std::vector<std::string>& missing) {
  commit_outcome result{decision::aborted, "no vote in time:"};
  for (const auto& each : missing) {
    if (result.reason.size() > 1000) break;
    result.reason += ' ' + each;
  }
  return result;
}

}  // namespace

transaction deciding(const std::string& node, const commit_sight& seen) {
  transaction all;
  all.set(node, serialize(seen.record), seen.stat.version);
  if (seen.record.outcome.decision == decision::committed) {
    for (const auto& each : seen.record.participants) all.check(vote_node(node, each));
  }
  return all;
}

awaitable<outcome<commit_outcome>> commit_transaction::decide(lease_clock::time_point deadline) {
  auto seen = co_await see_decided(deadline);
  if (seen.is_written) index_.move_mark_later(id_, seen.stat.ctime);
  co_return outcome<commit_outcome>(seen.error, seen.error ? commit_outcome() : seen.record.outcome);
}

awaitable<error_code> commit_transaction::finish(lease_clock::time_point deadline) {
  auto seen = co_await see_decided(deadline);
  if (seen.error == errc::no_node) co_return co_await index_.remove_mark(mark_);  // somebody has removed it by hand
  if (seen.error) co_return seen.error;
  if (!seen.is_written) {
    auto error = co_await wait_moved();
    if (error) co_return error == errc::no_node ? error_code() : error;
  }
  co_return co_await index_.move_mark(id_, seen.stat.ctime);
}

/// Waits for the votes until the deadline, and then writes the decision, unless another client has written it.
awaitable<commit_sight> commit_transaction::see_decided(lease_clock::time_point deadline) {
  transaction_watch over(session_, node_);
  for (;;) {
    auto seen = co_await over.look();
    if (seen.error || seen.record.decided()) co_return seen;
    seen = co_await over.wait_votes(std::move(seen), deadline);
    if (seen.error == asio::error::operation_aborted) co_return seen;
    const auto missing = missing_votes(seen.record, seen.children);
    const bool late = session_->now() >= deadline;
    if (seen.error || (!missing.empty() && !late)) continue;
    // A vote of no writes the decision itself, so all votes seen in an undecided transaction are yes.
    seen.record.outcome = missing.empty() ? commit_outcome{decision::committed, {}} : time_is_up(missing);
    const auto all = deciding(node_, seen);
    auto written = co_await session_->perform(backend::make_multi(all), retry::once);
    seen.is_written = !written.error;
    if (is_overtaken(written.error)) continue;
    seen.error = written.error;
    co_return seen;
  }
}

/// Gives another client that has written the decision a second to move the mark. Without an error the mark is still
/// in its place, and we have to move it.
awaitable<error_code> commit_transaction::wait_moved() {
  condition pause(session_->get_scheduler());
  auto why = co_await pause.wait(session_->now() + time_to_move);
  if (why == wake::cancelled) co_return asio::error::operation_aborted;
  auto look = make_request(opcode::exists, mark_);
  auto seen = co_await session_->perform(std::move(look), retry::always);
  co_return seen.error;
}

}  // namespace zkrecipes::detail
