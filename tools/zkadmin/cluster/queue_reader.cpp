#include "cluster/queue_reader.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/node_path.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::system_clock;
using zkrecipes::errc;
using zkrecipes::error_code;

/// The metadata of a node; nothing if it is missing.
asio::awaitable<std::optional<zkrecipes::node_stat>> stat_of(zkrecipes::session session, std::string path) {
  auto looked = co_await session.async_exists(path, as_result);
  const error_code error = std::get<0>(looked);
  if (error == errc::no_node) co_return std::nullopt;
  check(error, "looking at " + path);
  co_return std::get<1>(looked);
}

/// Adds what stands in a folder beside the items.
asio::awaitable<void> add_folders(zkrecipes::session session, const std::string& folder, queue_status& to) {
  const auto dead = co_await stat_of(session, join(folder, "_dead"));
  if (dead) to.dead_letters += static_cast<std::uint64_t>(dead->num_children);
  if (dead && dead->num_children > 0) to.letter_folder = join(folder, "_dead");
  const auto idle = co_await stat_of(session, join(folder, "_idle"));
  if (idle) to.takers += static_cast<std::uint64_t>(idle->num_children);
}

void add_claims(const std::string& folder, const queue_names& names, queue_status& to) {
  to.claimed += names.claimed;
  for (const auto& each : names.claims) to.claim_paths.push_back(join(folder, each));
}

/// A priority queue has its claims, dead letters and takers in a folder of their own, because kazoo takes every child
/// of the queue for an item.
asio::awaitable<void> add_side(zkrecipes::session session, const std::string& side, queue_status& to) {
  auto listing = co_await session.async_children(side, as_result);
  const error_code error = std::get<0>(listing);
  if (error == errc::no_node) co_return;
  check(error, "reading " + side);
  add_claims(side, read_names(std::get<1>(listing).names), to);
  co_await add_folders(session, side, to);
}

/// kazoo's LockingQueue has its items in "entries", and beside it in "taken" a node of the same name for each claim.
asio::awaitable<void> add_taken(zkrecipes::session session, const std::string& path, queue_status& to) {
  constexpr std::string_view items = "/entries";
  if (!path.ends_with(items)) co_return;
  const auto folder = path.substr(0, path.size() - items.size()) + "/taken";
  auto listing = co_await session.async_children(folder, as_result);
  const error_code error = std::get<0>(listing);
  if (error == errc::no_node) co_return;
  check(error, "reading " + folder);
  queue_names claims;
  for (auto& each : std::get<1>(listing).names)
    if (is_item_name(each)) claims.claims.push_back(std::move(each));
  claims.claimed = claims.claims.size();
  std::sort(claims.claims.begin(), claims.claims.end());
  add_claims(folder, claims, to);
}

milliseconds age_of(milliseconds since) {
  const auto now = std::chrono::duration_cast<milliseconds>(system_clock::now().time_since_epoch());
  return std::max(now - since, milliseconds(0));
}

/// Sets for how long the taker that is first in line has waited.
asio::awaitable<void> look_at_first_taker(zkrecipes::session session, std::string folder, queue_status& to) {
  constexpr std::size_t digits = 10;
  auto listing = co_await session.async_children(folder, as_result);
  const error_code error = std::get<0>(listing);
  if (error == errc::no_node) co_return;
  check(error, "reading " + folder);
  std::string first, place;
  for (const auto& each : std::get<1>(listing).names) {
    auto of_each = each.substr(each.size() - std::min(each.size(), digits));
    if (!first.empty() && of_each >= place) continue;
    first = each;
    place = std::move(of_each);
  }
  if (first.empty()) co_return;
  const auto stat = co_await stat_of(session, join(folder, first));
  if (stat) to.taker_waits = age_of(milliseconds(stat->ctime));
}

asio::awaitable<milliseconds> age_of_oldest(zkrecipes::session session, const std::string& path,
                                            const queue_names& names) {
  if (names.items == 0) co_return milliseconds(0);
  auto since = names.due;
  if (!since) {
    const auto stat = co_await stat_of(session, join(path, names.oldest));
    if (!stat) co_return milliseconds(0);  // it has been taken since
    since = milliseconds(stat->ctime);
  }
  co_return age_of(*since);
}

}  // namespace

asio::awaitable<reading<queue_status>> read_queue(zkrecipes::session session, std::string path) {
  reading<queue_status> result;
  auto listing = co_await session.async_children(path, as_result);
  result.error = std::get<0>(listing);
  if (result.error) co_return result;
  const auto names = read_names(std::get<1>(listing).names);
  auto& status = result.status;
  status.path = path;
  status.items = names.items;
  status.order = names.order;
  add_claims(path, names, status);
  status.oldest = co_await age_of_oldest(session, path, names);
  co_await add_folders(session, path, status);
  co_await add_side(session, path + "-side", status);
  co_await add_taken(session, path, status);
  if (status.takers == 0 || status.items == 0 || status.claimed > 0) co_return result;
  for (const auto* side : {"", "-side"}) {
    if (!status.taker_waits) co_await look_at_first_taker(session, join(path + side, "_idle"), status);
  }
  co_return result;
}

}  // namespace zkadmin
