// What the parties of a two-phase commit do. `node`: of the transaction.
#pragma once

#include "commit/ledger.hpp"
#include "line/place.hpp"

namespace zkrecipes::detail {

awaitable<outcome<>> begin_commit(core_ptr session, std::string path, std::string id, commit_record record);

awaitable<outcome<commit_outcome>> vote(core_ptr session, std::string node, commit_vote what);

awaitable<outcome<commit_outcome>> await_outcome(core_ptr session, std::string node);

/// `leading`: the place that makes us the coordinator; when it is lost, `closed`, and somebody else decides.
awaitable<outcome<commit_outcome>> decide(core_ptr session, std::string node, lease_clock::time_point deadline,
                                          place_ptr leading);

awaitable<outcome<commit_state>> read_state(core_ptr session, std::string node);

/// Ids and what is known of them. A path that is missing has none.
struct commit_file {
  std::string id;
  commit_record record;
  zkrecipes::stat stat;
};
awaitable<outcome<std::vector<commit_file>>> read_files(core_ptr session, std::string path);

awaitable<outcome<std::size_t>> clean_up(core_ptr session, std::string path, std::chrono::milliseconds age);

awaitable<outcome<>> coordinate(core_ptr session, std::string path, commit_coordinator_options options);

}  // namespace zkrecipes::detail
