#include "commit/commit_transaction.hpp"

#include <utility>

#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;
using std::chrono::milliseconds;

commit_transaction::commit_transaction(core_ptr session, const std::string& path, std::string id)
    : session_(std::move(session)),
      index_(session_, path),
      id_(std::move(id)),
      node_(join(path, id_)),
      mark_(undecided_mark(path, id_)) {}

awaitable<outcome<>> commit_transaction::begin(commit_record record) {
  record.by = session_->make_guid();
  auto path = co_await index_.read_path(false);
  auto error = std::get<0>(path);
  if (!error && std::get<1>(path).layout == commit_layout::missing) error = co_await index_.open();
  if (error) co_return outcome<>(error);
  for (;;) {
    transaction both;
    both.create(node_, serialize(record)).create(mark_);
    auto created = co_await session_->perform(backend::make_multi(both), retry::once);
    if (may_have_happened(created.error) && created.sent) co_return outcome<>(co_await settle(record.by));
    if (created.error != errc::no_node) co_return outcome<>(created.error);
    error = co_await index_.open();
    if (error) co_return outcome<>(error);
  }
}

/// Finds out what became of a create whose reply was lost. The create must not be sent again, because the transaction
/// may have been decided and cleaned up since.
awaitable<error_code> commit_transaction::settle(std::string by) {
  auto seen = co_await look_at_commit(session_, node_, persistence::limited);
  if (seen.error == errc::no_node) co_return errc::outcome_unknown;
  if (seen.error == errc::foreign_data || (!seen.error && seen.record.by != by)) co_return errc::node_exists;
  co_return seen.error;
}

awaitable<outcome<commit_outcome>> commit_transaction::await_outcome() {
  condition changed(session_->get_scheduler());
  for (;;) {
    auto hint = session_->arm(watch_kind::data, node_, changed);
    auto seen = co_await look_at_commit(session_, node_, persistence::endless, true);
    if (seen.error || seen.record.decided()) co_return outcome<commit_outcome>(seen.error, seen.record.outcome);
    while (!hint->fired()) {
      auto why = co_await changed.wait();
      if (why == wake::cancelled) co_return failed<commit_outcome>(asio::error::operation_aborted);
    }
  }
}

awaitable<outcome<commit_state>> commit_transaction::state() {
  auto seen = co_await look_at_commit(session_, node_, persistence::limited, false, true);
  commit_state state;
  if (seen.error) co_return outcome<commit_state>(seen.error, std::move(state));
  std::vector<backend::request> reads;
  for (const auto& each : seen.record.participants) reads.push_back(make_request(opcode::get, vote_node(node_, each)));
  auto read = co_await perform_together(session_, std::move(reads), persistence::limited);
  auto error = std::get<0>(read);
  const auto& votes = std::get<1>(read);
  for (std::size_t i = 0; i < votes.size(); ++i) {
    if (!error && is_untold(votes[i].error)) error = votes[i].error;
    auto vote = votes[i].error ? std::nullopt : parse_vote(votes[i].data);
    if (!vote) continue;
    vote->participant = seen.record.participants[i];
    state.votes.push_back(std::move(*vote));
  }
  state.data = std::move(seen.record.data);
  state.participants = std::move(seen.record.participants);
  state.outcome = std::move(seen.record.outcome);
  state.begun = std::chrono::system_clock::time_point(milliseconds(seen.stat.ctime));
  co_return outcome<commit_state>(error, std::move(state));
}

}  // namespace zkrecipes::detail
