// Voting.
#include <utility>

#include "commit/commit_transaction.hpp"

namespace zkrecipes::detail {

using backend::opcode;

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
