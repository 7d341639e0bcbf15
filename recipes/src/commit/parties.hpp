// The operations of the parties of a two-phase commit. `node`: the path of the transaction's node.
#pragma once

#include "commit/commit_sight.hpp"

namespace zkrecipes::detail {

awaitable<outcome<>> begin_commit(core_ptr session, std::string path, std::string id, commit_record record);

awaitable<outcome<commit_outcome>> vote(core_ptr session, std::string node, commit_vote what);

awaitable<outcome<commit_outcome>> await_outcome(core_ptr session, std::string node);

/// Waits for the votes until the deadline, and then writes the decision, unless another client has written it.
awaitable<commit_sight> see_decided(core_ptr session, std::string node, lease_clock::time_point deadline);
/// The same for `async_decide`: completes with the decision, and moves the mark in the background if we wrote it.
awaitable<outcome<commit_outcome>> decide(core_ptr session, std::string node, lease_clock::time_point deadline);

awaitable<outcome<commit_state>> read_state(core_ptr session, std::string node);

awaitable<outcome<std::size_t>> clean_up(core_ptr session, std::string path, std::chrono::milliseconds age);

awaitable<outcome<>> coordinate(core_ptr session, std::string path, commit_coordinator_options options);

}  // namespace zkrecipes::detail
