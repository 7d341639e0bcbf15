#include <utility>

#include "commit/parties.hpp"

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

/// The version decides which of several coordinators does; every vote has to be there.
transaction deciding(const std::string& node, const commit_sight& seen) {
  transaction all;
  all.set(node, serialize(seen.record), seen.stat.version);
  if (seen.record.outcome.decision == decision::committed) {
    for (const auto& each : seen.record.participants) all.check(vote_node(node, each));
  }
  return all;
}

}  // namespace

awaitable<result_type> decide(core_ptr session, std::string node, lease_clock::time_point deadline, place_ptr leading) {
  condition own(session->get_scheduler());
  condition& changed = leading ? leading->changed() : own;
  for (;;) {
    auto decided = session->arm(watch_kind::data, node, changed);
    auto voted = session->arm(watch_kind::children, node, changed);
    auto seen = co_await look_at_commit(session, node, persistence::endless, true, true);
    if (seen.error || seen.record.decided()) co_return result_type(seen.error, seen.record.outcome);
    const auto missing = missing_votes(seen.record, seen.children);
    while (!missing.empty() && session->now() < deadline && !decided->fired() && !voted->fired()) {
      if (leading && leading->lost()) co_return result_type(errc::closed, commit_outcome());
      auto why = co_await changed.wait(deadline);
      if (why == wake::cancelled) co_return result_type(asio::error::operation_aborted, commit_outcome());
    }
    const bool late = session->now() >= deadline;
    if (!missing.empty() && !late) continue;
    // A refusal has decided: whoever is seen to have voted here has voted yes.
    seen.record.outcome = missing.empty() ? commit_outcome{decision::committed, {}} : time_is_up(missing);
    const auto all = deciding(node, seen);
    auto written = co_await session->perform(backend::make_multi(all), retry::once);
    if (!written.error) co_return result_type(error_code(), seen.record.outcome);
    if (!is_overtaken(written.error)) co_return result_type(written.error, commit_outcome());
  }
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
