#include <utility>

#include "commit/parties.hpp"
#include "commit/transaction_index.hpp"

namespace zkrecipes::detail {

using backend::opcode;
using std::chrono::milliseconds;

awaitable<outcome<commit_state>> read_state(core_ptr session, std::string node) {
  auto seen = co_await look_at_commit(session, node, persistence::limited, false, true);
  commit_state state;
  if (seen.error) co_return outcome<commit_state>(seen.error, std::move(state));
  std::vector<backend::request> reads;
  for (const auto& each : seen.record.participants) reads.push_back(make_request(opcode::get, vote_node(node, each)));
  auto read = co_await perform_together(session, std::move(reads), persistence::limited);
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
