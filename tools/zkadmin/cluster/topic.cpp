#include "cluster/topic.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <zkrecipes/consumer/topic.hpp>

#include "base/tasks.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"
#include "cluster/recognize.hpp"
#include "cluster/stored_record.hpp"

namespace zkadmin {

topic_shard_status total_of(const std::vector<topic_shard_status>& shards) noexcept {
  topic_shard_status total;
  for (const auto& each : shards) {
    total.batches += each.batches;
    total.messages += each.messages;
    total.oldest = std::max(total.oldest, each.oldest);
  }
  return total;
}

namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;
using kept_shards = std::vector<zkrecipes::topic_shard>;

constexpr std::int64_t most_shards = 10'000;

std::set<std::string> groups_of(const kept_shards& shards) {
  std::set<std::string> all;
  for (const auto& each : shards) all.insert(each.groups.begin(), each.groups.end());
  return all;
}

/// Sets `count` to the number of shards. A later version may have written more of them than this one can read.
asio::awaitable<error_code> find_count(zkrecipes::session session, std::string path, std::uint32_t& count) {
  auto reading = co_await session.async_get(std::move(path), as_result);
  const error_code error = std::get<0>(reading);
  if (error) co_return error;
  const auto& data = std::get<1>(reading).data;
  const auto stored = integer_field(parse_stored(data), "count");
  const bool is_topic = recipe_of(data) == recipe::topic && stored >= 1 && stored <= most_shards;
  if (!is_topic) co_return errc::foreign_data;
  count = static_cast<std::uint32_t>(stored);
  co_return error_code();
}

asio::awaitable<std::uint64_t> count_dead_letters(zkrecipes::topic topic, std::string group) {
  auto session = topic.get_session();
  auto looked = co_await session.async_exists(topic.path() + "/_dead/" + group, as_result);
  const error_code error = std::get<0>(looked);
  if (error == errc::no_node || error == errc::no_auth) co_return 0;
  check(error, "reading the dead letters of " + group);
  co_return static_cast<std::uint64_t>(std::get<1>(looked).num_children);
}

asio::awaitable<error_code> add_group(zkrecipes::topic topic, std::string name, topic_status& to) {
  auto lagging = co_await topic.async_lag(name, as_result);
  const error_code error = std::get<0>(lagging);
  if (error) co_return error;
  topic_group_status group;
  group.name = name;
  for (const auto& each : std::get<1>(lagging))
    if (each.messages > 0) group.behind.push_back({each.shard, each.batches, each.messages, each.oldest});
  group.dead_letters = co_await count_dead_letters(std::move(topic), std::move(name));
  to.groups.push_back(std::move(group));
  co_return error_code();
}

}  // namespace

asio::awaitable<reading<topic_status>> read_topic(zkrecipes::session session, std::string path) {
  reading<topic_status> result;
  auto& status = result.status;
  status.path = path;
  result.error = co_await find_count(session, path, status.shards);
  if (result.error) co_return result;
  zkrecipes::topic_options options;
  options.shards = status.shards;
  zkrecipes::topic topic(std::move(session), std::move(path), std::move(options));
  auto listed = co_await topic.async_shards(as_result);
  result.error = std::get<0>(listed);
  if (result.error) co_return result;
  const auto& shards = std::get<1>(listed);
  for (const auto& each : shards)
    if (each.batches > 0) status.kept.push_back({each.shard, each.batches, each.messages, {}});
  for (const auto& each : groups_of(shards)) {
    result.error = co_await add_group(topic, each, status);
    if (result.error) co_return result;
  }
  co_return result;
}

}  // namespace zkadmin
