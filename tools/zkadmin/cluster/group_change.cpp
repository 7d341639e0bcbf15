#include "cluster/group_change.hpp"

#include <optional>
#include <tuple>
#include <utility>

#include <zkrecipes/consumer/shard.hpp>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/inherited_acl.hpp"
#include "cluster/recognize.hpp"
#include "cluster/stored_record.hpp"
#include "election/term_record.hpp"
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

namespace {

constexpr std::size_t most_at_once = 100;  // so that the transaction is not too large for a server

/// Without the deaths in the record the next one would put the shard there again. A record that its owner may be
/// writing is left alone.
asio::awaitable<void> add_release(zkrecipes::session session, std::string path, std::string name,
                                  zkrecipes::node_data mark, intervention& change) {
  change.requests.remove(path + "/quarantine/" + name, mark.stat.version);
  const auto record_path = path + "/shard/" + name;
  const auto node = co_await find_node(session, record_path);
  auto record = node ? zkrecipes::detail::parse_record(node->data) : std::nullopt;
  if (!record || record->deaths == 0 || !record->finished()) co_return;
  record->deaths = 0;
  change.requests.set(record_path, zkrecipes::detail::serialize(*record), node->stat.version);
}

intervention release_of(std::string done) {
  intervention change;
  change.done = std::move(done);
  change.if_gone = "a shard has just been released by another: nothing was done, look again";
  change.if_changed = "a node has just been written: nothing was done, try again";
  return change;
}

}  // namespace

asio::awaitable<intervention> prepare_release(zkrecipes::session session, std::string path, std::uint32_t shard) {
  const auto count = co_await require_group(session, path);
  const auto number = std::to_string(shard);
  require_shard(path, shard, count);
  auto name = zkrecipes::shard{shard, static_cast<std::uint32_t>(count)}.name();
  auto present = co_await find_node(session, path + "/quarantine/" + name);
  if (!present) throw nothing_to_do("shard " + number + " of " + path + " is not in quarantine");
  auto change = release_of("released shard " + number + " of " + path);
  co_await add_release(session, path, std::move(name), std::move(*present), change);
  co_return change;
}

asio::awaitable<intervention> prepare_release_of_all(zkrecipes::session session, std::string path) {
  co_await require_group(session, path);
  auto listing = co_await session.async_children(path + "/quarantine", as_result);
  const error_code error = std::get<0>(listing);
  if (error != errc::no_node) check(error, "reading " + path + "/quarantine");
  auto change = release_of("");
  std::size_t released = 0;
  for (auto& each : std::get<1>(listing).names) {
    if (released == most_at_once) break;
    auto mark = co_await find_node(session, path + "/quarantine/" + each);
    if (!mark) continue;
    ++released;
    co_await add_release(session, path, std::move(each), std::move(*mark), change);
  }
  if (released == 0) throw nothing_to_do("no shard of " + path + " is in quarantine");
  change.done = "released " + std::to_string(released) + " shards of " + path;
  if (released == most_at_once) change.done += "; there may be more: give the command again";
  co_return change;
}

}  // namespace zkadmin
