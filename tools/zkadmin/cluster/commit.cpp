#include "cluster/commit.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <zkrecipes/two_phase_commit.hpp>

#include "base/tasks.hpp"
#include "cluster/collector.hpp"
#include "cluster/line_status.hpp"
#include "cluster/nodes.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

/// One that is not there any more has been decided and cleaned up since the list was read.
using perhaps_undecided = std::optional<undecided_status>;

asio::awaitable<void> read_begin(zkrecipes::session session, const std::string& path, std::string id,
                                 perhaps_undecided& into) {
  const auto node = join(path, id);
  const auto stat = co_await find_stat(std::move(session), node);
  if (!stat) co_return;
  into = undecided_status{std::move(id), age_of(*stat, clock_now())};
}

}  // namespace

asio::awaitable<reading<commit_status>> read_commit(zkrecipes::session session, std::string path) {
  reading<commit_status> result;
  result.status.path = path;
  zkrecipes::two_phase_commit commit(session, path);
  auto listed = co_await commit.async_undecided(as_result);
  result.error = std::get<0>(listed);
  if (result.error) co_return result;
  auto& ids = std::get<1>(listed);
  std::sort(ids.begin(), ids.end());
  std::vector<perhaps_undecided> found(ids.size());
  const auto read_one = [&](std::size_t i) { return read_begin(session, path, ids[i], found[i]); };
  co_await for_each_index(ids.size(), requests_at_a_time, read_one);
  for (auto& each : found)
    if (each) result.status.undecided.push_back(std::move(*each));
  co_return result;
}

}  // namespace zkadmin
