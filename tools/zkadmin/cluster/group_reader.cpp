#include "cluster/group_reader.hpp"

#include <charconv>
#include <chrono>
#include <set>
#include <tuple>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/shard_group.hpp>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/folder.hpp"
#include "cluster/recognize.hpp"
#include "cluster/stored_record.hpp"
#include "failure.hpp"
#include "for_each_index.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;

asio::awaitable<void> find_planner(zkrecipes::session session, std::string path, group_facts& facts) {
  const auto seen = co_await view_election(std::move(session), path + "/_planner");
  if (seen && seen->leader) facts.planner = label(*seen->leader);
  facts.planner_unknown = seen && !is_known(*seen);
}

/// When the nodes of those members were written that are to own a shard and have not begun.
asio::awaitable<void> find_orders(zkrecipes::session session, const std::string& path,
                                  const zkrecipes::shard_group_view& view, group_facts& facts) {
  std::set<std::string> heirs;
  for (const auto& each : view.shards)
    if (each.is_moving()) heirs.insert(each.assigned_to);
  const std::vector<std::string> nodes(heirs.begin(), heirs.end());
  const auto find_one = [&](std::size_t i) -> asio::awaitable<void> {
    const auto node = path + "/member/" + nodes[i];
    auto looked = co_await session.async_exists(node, as_result);
    const zkrecipes::error_code error = std::get<0>(looked);
    if (error == errc::no_node || error == errc::no_auth) co_return;
    check(error, "looking at " + node);
    facts.ordered[nodes[i]] = std::get<1>(looked).mtime;
  };
  co_await for_each_index(nodes.size(), requests_at_a_time, find_one);
}

asio::awaitable<group_facts> facts_of(zkrecipes::session session, std::string path,
                                      const zkrecipes::shard_group_view& view) {
  group_facts facts;
  co_await find_planner(session, path, facts);
  const auto quarantined = co_await read_folder(session, path + "/quarantine");
  for (const auto& each : quarantined) {
    const auto record = parse_stored(each.data);
    std::uint32_t number = 0;
    std::from_chars(each.name.data(), each.name.data() + each.name.size(), number);
    facts.quarantined[number] = {number, integer_field(record, "deaths"), text_field(record, "last")};
  }
  const auto away = co_await read_folder(session, path + "/away");
  for (const auto& each : away) facts.away_since[text_field(parse_stored(each.data), "id")] = each.stat.mtime;
  co_await find_orders(session, path, view, facts);
  co_return facts;
}

}  // namespace

asio::awaitable<reading<group_status>> read_group(zkrecipes::session session, std::string path) {
  reading<group_status> result;
  result.error = errc::no_node;
  if (path == "/") co_return result;
  zkrecipes::shard_group group(session, path, {.id = "zkadmin"});
  auto viewed = co_await group.async_view(as_result);
  result.error = std::get<0>(viewed);
  if (result.error) co_return result;
  const auto facts = co_await facts_of(session, path, std::get<1>(viewed));
  result.status = status_of(std::move(path), std::get<1>(viewed), facts, std::chrono::system_clock::now());
  co_return result;
}

asio::awaitable<std::vector<group_status>> read_groups(zkrecipes::session session, std::vector<std::string> paths) {
  group_survey all;
  for (const auto& each : paths) {
    auto seen = co_await read_group(session, each);
    add_to(all, each, std::move(seen));
  }
  co_return std::move(all.found);
}

}  // namespace zkadmin
