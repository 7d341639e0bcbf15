#include "cluster/group_reader.hpp"

#include <chrono>
#include <tuple>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/consumer/shard_group.hpp>

#include "as_result.hpp"
#include "cluster/election_reader.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;

asio::awaitable<group_planner> find_planner(zkrecipes::session session, std::string path) {
  const auto seen = co_await view_election(std::move(session), path + "/_planner");
  co_return planner_of(seen ? &*seen : nullptr);
}

}  // namespace

group_planner planner_of(const election_status* election) {
  group_planner planner;
  if (election && election->leader) planner.id = label(*election->leader);
  planner.is_unknown = election && !is_known(*election);
  return planner;
}

asio::awaitable<reading<group_status>> read_group(zkrecipes::session session, std::string path) {
  reading<group_status> result;
  result.error = errc::no_node;
  if (path == "/") co_return result;
  zkrecipes::shard_group group(session, path, {.id = "zkadmin"});
  auto viewed = co_await group.async_view(as_result);
  result.error = std::get<0>(viewed);
  if (result.error) co_return result;
  const auto planner = co_await find_planner(session, path);
  result.status = status_of(std::move(path), std::get<1>(viewed), planner, std::chrono::system_clock::now());
  co_return result;
}

}  // namespace zkadmin
