#include "commit/commit_transaction.hpp"

#include <memory>
#include <string>
#include <utility>

#include "session/core.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

awaitable<commit_sight> look_at_commit(core_ptr session, std::string node, persistence how_long, bool watch,
                                       bool with_children) {
  std::vector<backend::request> all{make_request(opcode::get, node, watch)};
  if (with_children) all.push_back(make_request(opcode::children, node, watch));
  auto answered = co_await perform_latest(std::move(session), std::move(all), how_long);
  auto& [error, replies] = answered;
  commit_sight seen;
  seen.error = error;
  if (seen.error) co_return seen;
  for (const auto& each : replies) seen.error = seen.error ? seen.error : each.error;
  if (seen.error) co_return seen;
  auto record = parse_commit(replies[0].data);
  if (!record) seen.error = errc::foreign_data;
  if (record) seen.record = std::move(*record);
  seen.stat = replies[0].stat;
  seen.children = std::move(replies.back().children);
  co_return seen;
}

bool is_overtaken(const error_code& error) {
  return error == errc::bad_version || error == errc::no_node || may_have_happened(error);
}

/// Waiting for the votes on one transaction.
/// The wait of a coordinator for one transaction: it watches only that transaction's node.
class transaction_watch {
 public:
  transaction_watch(core_ptr session, std::string node);

  /// Reads the record and lists the votes, and watches both.
  awaitable<commit_sight> look();
  /// Waits until all votes have been seen, the time is up, or the record has to be read again. The result is `seen`
  /// with the present list of votes, or with an error.
  awaitable<commit_sight> wait_votes(commit_sight seen, lease_clock::time_point deadline);

 private:
  core_ptr session_;
  std::string node_;
  condition changed_;
  std::unique_ptr<watch> decided_;
  std::unique_ptr<watch> voted_;
};

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

// Deciding.

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
  auto seen = co_await check_decided(deadline);
  if (seen.is_written) index_.move_mark_later(id_, seen.stat.ctime);
  co_return outcome<commit_outcome>(seen.error, seen.error ? commit_outcome() : seen.record.outcome);
}

awaitable<error_code> commit_transaction::finish(lease_clock::time_point deadline) {
  auto seen = co_await check_decided(deadline);
  if (seen.error == errc::no_node) co_return co_await index_.remove_mark(mark_);  // somebody has removed it by hand
  if (seen.error) co_return seen.error;
  if (!seen.is_written) {
    auto error = co_await wait_moved();
    if (error) co_return error == errc::no_node ? error_code() : error;
  }
  co_return co_await index_.move_mark(id_, seen.stat.ctime);
}

/// Waits for the votes until the deadline, and then writes the decision, unless another client has written it.
awaitable<commit_sight> commit_transaction::check_decided(lease_clock::time_point deadline) {
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

// Voting.

namespace {

/// The version check refuses a vote if the transaction has been decided since we saw it. A vote of no also writes the
/// decision.
transaction casting(const std::string& node, const commit_vote& what, commit_sight& seen) {
  transaction all;
  if (what.ballot == ballot::yes) {
    all.check(node, seen.stat.version);
  } else {
    seen.record.outcome = {decision::aborted, what.participant + ": " + what.reason};
    all.set(node, serialize(seen.record), seen.stat.version);
  }
  return all.create(vote_node(node, what.participant), serialize(what));
}

}  // namespace

awaitable<outcome<commit_outcome>> commit_transaction::vote(commit_vote what) {
  for (;;) {
    auto seen = co_await look_at_commit(session_, node_, persistence::limited);
    if (!seen.error && !seen.record.names(what.participant)) seen.error = errc::bad_arguments;
    if (seen.error || seen.record.decided()) co_return outcome<commit_outcome>(seen.error, seen.record.outcome);
    const auto all = casting(node_, what, seen);
    auto cast = co_await session_->perform(backend::make_multi(all), retry::once);
    if (!cast.error && seen.record.decided()) index_.move_mark_later(id_, seen.stat.ctime);
    if (!cast.error) co_return outcome<commit_outcome>(cast.error, seen.record.outcome);
    if (cast.error == errc::node_exists) {
      auto compared = co_await compare_votes(what);
      if (std::get<0>(compared) != errc::no_node) co_return compared;
    } else if (!is_overtaken(cast.error)) {
      co_return failed<commit_outcome>(cast.error);
    }
  }
}

/// The node of our vote exists already: compares the vote in it with the present one.
awaitable<outcome<commit_outcome>> commit_transaction::compare_votes(commit_vote what) {
  auto look = make_request(opcode::get, vote_node(node_, what.participant));
  auto seen = co_await session_->perform(std::move(look), retry::always);
  auto before = parse_vote(seen.data);
  if (!seen.error && !before) seen.error = errc::foreign_data;
  if (!seen.error && before->ballot != what.ballot) seen.error = errc::node_exists;
  co_return failed<commit_outcome>(seen.error);
}

}  // namespace zkrecipes::detail
