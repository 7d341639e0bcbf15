#include <utility>

#include "commit/parties.hpp"
#include "commit/transaction_index.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

using result_type = outcome<commit_outcome>;

commit_outcome time_is_up(const std::vector<std::string>& missing) {
  commit_outcome result{decision::aborted, "no vote in time:"};
  for (const auto& each : missing) {
    if (result.reason.size() > 1000) break;
    result.reason += ' ' + each;
  }
  return result;
}

/// The version lets only one of several coordinators write the decision. A commit also checks that every vote is there.
transaction deciding(const std::string& node, const commit_sight& seen) {
  transaction all;
  all.set(node, serialize(seen.record), seen.stat.version);
  if (seen.record.outcome.decision == decision::committed) {
    for (const auto& each : seen.record.participants) all.check(vote_node(node, each));
  }
  return all;
}

/// The wait of a coordinator for one transaction: it watches only that transaction's node.
struct transaction_watch {
  transaction_watch(core_ptr over, std::string of)
      : session(std::move(over)), node(std::move(of)), changed(session->get_scheduler()) {}

  const core_ptr session;
  const std::string node;
  condition changed;
  std::unique_ptr<watch> decided;
  std::unique_ptr<watch> voted;

  awaitable<commit_sight> look();
  awaitable<error_code> wait_votes(commit_sight& seen, lease_clock::time_point deadline);
};

awaitable<commit_sight> transaction_watch::look() {
  decided = session->arm(watch_kind::data, node, changed);
  voted = session->arm(watch_kind::children, node, changed);
  return look_at_commit(session, node, persistence::endless, true, true);
}

/// Waits until all votes have been seen, the time is up, or the record has to be read again. For a vote only the list
/// of votes is read again, because the record may be large.
awaitable<error_code> transaction_watch::wait_votes(commit_sight& seen, lease_clock::time_point deadline) {
  while (!missing_votes(seen.record, seen.children).empty() && session->now() < deadline && !decided->fired()) {
    if (voted->fired()) {
      voted = session->arm(watch_kind::children, node, changed);
      auto list = make_request(opcode::children, node, true);
      auto listed = co_await session->perform(std::move(list), retry::always);
      if (listed.error) co_return listed.error;
      seen.children = std::move(listed.children);
    } else {
      auto why = co_await changed.wait(deadline);
      if (why == wake::cancelled) co_return asio::error::operation_aborted;
    }
  }
  co_return error_code();
}

}  // namespace

awaitable<commit_sight> see_decided(core_ptr session, std::string node, lease_clock::time_point deadline) {
  transaction_watch over(session, node);
  for (;;) {
    auto seen = co_await over.look();
    if (seen.error || seen.record.decided()) co_return seen;
    seen.error = co_await over.wait_votes(seen, deadline);
    if (seen.error == asio::error::operation_aborted) co_return seen;
    const auto missing = missing_votes(seen.record, seen.children);
    const bool late = session->now() >= deadline;
    if (seen.error || (!missing.empty() && !late)) continue;
    // A vote of no writes the decision itself, so all votes seen in an undecided transaction are yes.
    seen.record.outcome = missing.empty() ? commit_outcome{decision::committed, {}} : time_is_up(missing);
    const auto all = deciding(node, seen);
    auto written = co_await session->perform(backend::make_multi(all), retry::once);
    seen.is_written = !written.error;
    if (is_overtaken(written.error)) continue;
    seen.error = written.error;
    co_return seen;
  }
}

awaitable<result_type> decide(core_ptr session, std::string node, lease_clock::time_point deadline) {
  auto seen = co_await see_decided(session, node, deadline);
  if (seen.is_written) index_later(session, node, seen.stat.ctime);
  co_return result_type(seen.error, seen.error ? commit_outcome() : seen.record.outcome);
}

awaitable<result_type> await_outcome(core_ptr session, std::string node) {
  condition changed(session->get_scheduler());
  for (;;) {
    auto hint = session->arm(watch_kind::data, node, changed);
    auto seen = co_await look_at_commit(session, node, persistence::endless, true);
    if (seen.error || seen.record.decided()) co_return result_type(seen.error, seen.record.outcome);
    while (!hint->fired()) {
      auto why = co_await changed.wait();
      if (why == wake::cancelled) co_return result_type(asio::error::operation_aborted, commit_outcome());
    }
  }
}

}  // namespace zkrecipes::detail
