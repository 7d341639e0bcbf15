#include <utility>

#include "commit/parties.hpp"
#include "commit/transaction_index.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// The node of our vote exists already: compares the vote in it with the present one.
awaitable<outcome<commit_outcome>> compare_votes(core_ptr session, std::string path, ballot now) {
  auto look = make_request(opcode::get, std::move(path));
  auto seen = co_await session->perform(std::move(look), retry::always);
  auto before = parse_vote(seen.data);
  if (!seen.error && !before) seen.error = errc::foreign_data;
  if (!seen.error && before->ballot != now) seen.error = errc::node_exists;
  co_return outcome<commit_outcome>(seen.error, commit_outcome());
}

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

awaitable<outcome<commit_outcome>> vote(core_ptr session, std::string node, commit_vote what) {
  for (;;) {
    auto seen = co_await look_at_commit(session, node, persistence::limited);
    if (!seen.error && !seen.record.names(what.participant)) seen.error = errc::bad_arguments;
    if (seen.error || seen.record.decided()) co_return outcome<commit_outcome>(seen.error, seen.record.outcome);
    const auto all = casting(node, what, seen);
    auto cast = co_await session->perform(backend::make_multi(all), retry::once);
    if (!cast.error && seen.record.decided()) index_later(session, node, seen.stat.ctime);
    if (!cast.error) co_return outcome<commit_outcome>(cast.error, seen.record.outcome);
    if (cast.error == errc::node_exists) {
      auto compared = co_await compare_votes(session, vote_node(node, what.participant), what.ballot);
      if (std::get<0>(compared) != errc::no_node) co_return compared;
    } else if (!is_overtaken(cast.error)) {
      co_return outcome<commit_outcome>(cast.error, commit_outcome());
    }
  }
}

}  // namespace zkrecipes::detail
