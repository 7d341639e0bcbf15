#include "cluster/group_change.hpp"

#include <optional>
#include <tuple>
#include <utility>

#include <zkrecipes/shard.hpp>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/inherited_acl.hpp"
#include "cluster/recognize.hpp"
#include "cluster/stored_record.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace zkadmin {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;

asio::awaitable<std::optional<zkrecipes::node_data>> find_node(zkrecipes::session session, std::string path) {
  auto reading = co_await session.async_get(path, as_result);
  const error_code error = std::get<0>(reading);
  if (error == errc::no_node) co_return std::nullopt;
  check(error, "reading " + path);
  co_return std::move(std::get<1>(reading));
}

asio::awaitable<std::int64_t> require_group(zkrecipes::session session, std::string path) {
  const auto node = co_await find_node(std::move(session), path);
  if (!node) throw failure(exit_code::error, "there is no shard group at " + printable(path));
  if (recipe_of(node->data) != recipe::shard_group)
    throw failure(exit_code::error, printable(path) + " is no shard group");
  co_return integer_field(parse_stored(node->data), "count");
}

failure nothing_to_do(const std::string& text) {
  return failure(exit_code::error, printable(text) + ": nothing was sent");
}

void require_shard(const std::string& path, std::uint32_t shard, std::int64_t count) {
  if (shard < count) return;
  throw nothing_to_do(path + " has no shard " + std::to_string(shard) + ": its shards are 0 to " +
                      std::to_string(count - 1));
}

asio::awaitable<intervention> prepare_freeze(zkrecipes::session session, std::string path) {
  co_await require_group(session, path);
  const auto mark = path + "/frozen";
  const auto present = co_await find_node(session, mark);
  if (present) throw nothing_to_do(path + " is frozen already");
  intervention change;
  auto access = co_await inherited_acl(session, path);
  change.requests.create(mark, "", zkrecipes::create_mode::persistent, std::move(access));
  change.done = "froze " + path;
  change.if_gone = "the group has just been removed: nothing was written";
  change.if_changed = "the group has just been frozen by another";
  co_return change;
}

asio::awaitable<intervention> prepare_thaw(zkrecipes::session session, std::string path) {
  co_await require_group(session, path);
  const auto mark = path + "/frozen";
  const auto present = co_await find_node(session, mark);
  if (!present) throw nothing_to_do(path + " is not frozen");
  intervention change;
  change.requests.remove(mark, present->stat.version);
  change.done = "thawed " + path;
  change.if_gone = "the group has just been thawed by another";
  change.if_changed = "the node has just been written: nothing was done, try again";
  co_return change;
}

asio::awaitable<intervention> prepare_release(zkrecipes::session session, std::string path, std::uint32_t shard) {
  const auto count = co_await require_group(session, path);
  const auto number = std::to_string(shard);
  require_shard(path, shard, count);
  const zkrecipes::shard which{shard, static_cast<std::uint32_t>(count)};
  const auto mark = path + "/quarantine/" + which.name();
  const auto present = co_await find_node(session, mark);
  if (!present) throw nothing_to_do("shard " + number + " of " + path + " is not in quarantine");
  intervention change;
  change.requests.remove(mark, present->stat.version);
  change.done = "released shard " + number + " of " + path;
  change.if_gone = "the shard has just been released by another";
  change.if_changed = "the node has just been written: nothing was done, try again";
  co_return change;
}

}  // namespace zkadmin
