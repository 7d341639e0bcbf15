// What the parties of a two-phase commit do. `node`: of the transaction.
#pragma once

#include "commit/ledger.hpp"

namespace zkrecipes::detail {

awaitable<outcome<>> begin_commit(core_ptr session, std::string path, std::string id, commit_record record);

awaitable<outcome<commit_outcome>> vote(core_ptr session, std::string node, commit_vote what);

awaitable<outcome<commit_outcome>> await_outcome(core_ptr session, std::string node);

/// Waits for the votes, until the deadline, and sees that it is decided.
awaitable<commit_sight> see_decided(core_ptr session, std::string node, lease_clock::time_point deadline);
/// The same for whoever asks.
awaitable<outcome<commit_outcome>> decide(core_ptr session, std::string node, lease_clock::time_point deadline);

awaitable<outcome<commit_state>> read_state(core_ptr session, std::string node);

awaitable<outcome<std::size_t>> clean_up(core_ptr session, std::string path, std::chrono::milliseconds age);

awaitable<outcome<>> coordinate(core_ptr session, std::string path, commit_coordinator_options options);

}  // namespace zkrecipes::detail
