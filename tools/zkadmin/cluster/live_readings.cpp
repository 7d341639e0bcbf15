#include "cluster/live_readings.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"
#include "cluster/recognize.hpp"
#include "cluster/status.hpp"
#include "queue/queue_layout.hpp"
#include "shards/shard_name.hpp"

namespace zkadmin {

namespace {

constexpr std::size_t most_topic_nodes = 500;
constexpr recipe kinds_with_known_nodes[] = {recipe::lock,    recipe::read_write_lock, recipe::semaphore,
                                             recipe::barrier, recipe::double_barrier,  recipe::membership,
                                             recipe::service, recipe::queue,           recipe::persistent_node};
constexpr std::size_t most_transactions = 100;  // The decisions of more are seen when their marks go.

void add(watched_nodes& to, std::string path, watched_part part) { to.push_back({std::move(path), part}); }

void add_both(watched_nodes& to, const std::string& path) {
  add(to, path, watched_part::data);
  add(to, path, watched_part::children);
}

std::size_t count_of_nodes(const topic_status& topic) noexcept {
  return topic.shards * (2 + topic.groups.size()) + topic.groups.size();
}

/// Where a queue of this path has its dead letters, waiting takers and parked keys.
void add_folders(watched_nodes& to, const std::string& folder) {
  using namespace zkrecipes::detail;
  for (const auto each : {dead_folder, idle_folder, parked_folder})
    add(to, join(folder, std::string(each)), watched_part::children);
}

void add_participants(watched_nodes& to, const recipe_status& status) {
  for (const auto& each : status.participants)
    if (!each.node.empty()) add(to, join(status.path, each.node), watched_part::data);
}

/// Ours, Curator's and kazoo's: what is missing may come.
void add_semaphore(watched_nodes& to, const recipe_status& semaphore) {
  for (const auto* each : {"leases", "locks"}) add(to, join(semaphore.path, each), watched_part::children);
  add(to, semaphore.path + std::string(kazoos_inner_lock), watched_part::children);
}

bool may_be(const recipe_status& status, recipe which) {
  return std::find(status.kinds.begin(), status.kinds.end(), which) != status.kinds.end();
}

}  // namespace

bool is_watched(const topic_status& topic) noexcept { return count_of_nodes(topic) <= most_topic_nodes; }

bool is_watched(const recipe_status& recipe) noexcept {
  const auto has_known_nodes = [](zkadmin::recipe which) {
    return std::find(std::begin(kinds_with_known_nodes), std::end(kinds_with_known_nodes), which) !=
           std::end(kinds_with_known_nodes);
  };
  const auto& kinds = recipe.kinds;
  return recipe.access != recipe_access::no_access && std::any_of(kinds.begin(), kinds.end(), has_known_nodes);
}

watched_nodes nodes_of(const topic_status& topic) {
  watched_nodes all;
  add(all, topic.path, watched_part::data);
  if (!is_watched(topic)) return all;
  for (std::uint32_t i = 0; i < topic.shards; ++i) {
    const auto shard = join(topic.path, zkrecipes::detail::shard_name(i));
    const auto positions = join(shard, "_at");
    add(all, shard, watched_part::children);
    add(all, positions, watched_part::children);
    for (const auto& group : topic.groups) add(all, join(positions, group.name), watched_part::data);
  }
  for (const auto& group : topic.groups) add(all, join(join(topic.path, "_dead"), group.name), watched_part::children);
  return all;
}

watched_nodes nodes_of(const commit_status& commit) {
  watched_nodes all;
  add(all, commit.path, watched_part::data);
  add(all, join(commit.path, "_undecided"), watched_part::children);
  const auto count = std::min(commit.undecided.size(), most_transactions);
  for (std::size_t i = 0; i < count; ++i) add(all, join(commit.path, commit.undecided[i].id), watched_part::data);
  return all;
}

watched_nodes nodes_of(const queue_status& queue) {
  constexpr std::string_view items = "/entries";
  const auto side = queue.path + "-side";
  watched_nodes all;
  add(all, queue.path, watched_part::children);
  add_folders(all, queue.path);
  add(all, side, watched_part::children);
  add_folders(all, side);
  if (queue.path.ends_with(items))
    add(all, queue.path.substr(0, queue.path.size() - items.size()) + "/taken", watched_part::children);
  return all;
}

watched_nodes nodes_of(const recipe_status& status) {
  if (const auto* queue = std::get_if<queue_status>(&status.original)) return nodes_of(*queue);
  watched_nodes all;
  add_both(all, status.path);
  add_participants(all, status);
  if (may_be(status, recipe::semaphore)) add_semaphore(all, status);
  return all;
}

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using zkrecipes::errc;
using zkrecipes::error_code;
using found_node = std::optional<zkrecipes::node_stat>;

constexpr std::size_t looks_at_a_time = 16;
constexpr std::chrono::nanoseconds pause_for_a_child = 1s / 3'200;  // A name takes about 20 bytes: 64 KiB a second.
constexpr auto shortest_look_pause = 10s;
constexpr auto pause_if_missing = 1s;

std::int64_t newest_of(const found_node& node) { return node ? std::max(node->mzxid, node->pzxid) : 0; }

bool is_long_list(const watched_node& node, const found_node& seen) {
  return node.part == watched_part::children && seen && seen->num_children > node_watches::most_watched_children;
}

std::chrono::nanoseconds pause_of(const zkrecipes::node_stat& seen) {
  return std::max<std::chrono::nanoseconds>(shortest_look_pause, pause_for_a_child * seen.num_children);
}

}  // namespace

std::shared_ptr<node_watches> node_watches::make(zkrecipes::session session) {
  return std::shared_ptr<node_watches>(new node_watches(std::move(session)));
}

node_watches::node_watches(zkrecipes::session session)
    : session_(std::move(session)), wake_(session_.get_executor(), asio::steady_timer::time_point::max()) {}

asio::awaitable<bool> node_watches::renew(watched_nodes nodes) {
  const std::set<watched_node> wanted(nodes.begin(), nodes.end());
  std::erase_if(all_, [&wanted](const auto& each) { return !wanted.contains(each.first); });
  const bool has_changed = has_fired();
  std::vector<watched_node> due;
  for (const auto& each : wanted)
    if (!all_[each].is_armed) due.push_back(each);
  std::int64_t newest = 0;
  const auto arm_one = [&](std::size_t i) { return arm(due[i], newest); };
  co_await for_each_index(due.size(), looks_at_a_time, arm_one);
  const bool is_younger = newest > newest_ || has_changed;
  newest_ = std::max(newest, newest_);
  co_return is_younger;
}

asio::awaitable<void> node_watches::arm(watched_node node, std::int64_t& newest) {
  auto& one = all_[node];
  auto seen = one.seen;
  if (!std::exchange(one.is_looked_at, true)) seen = co_await find_stat(session_, node.path);
  newest = std::max(newest, newest_of(seen));
  const auto again = all_.find(node);
  if (again == all_.end()) co_return;
  again->second.seen = seen;
  again->second.is_armed = true;
  again->second.look_due.reset();
  if (is_long_list(node, seen)) {
    again->second.look_due = clock::now() + pause_of(*seen);
  } else {
    again->second.task = background_task(session_.get_executor(), await_change(node, seen));
  }
}

/// Does not keep the others alive: their end cancels the task.
asio::awaitable<void> node_watches::await_change(watched_node node, found_node seen) {
  const auto weak = weak_from_this();
  auto session = session_;
  error_code error;
  found_node now;
  if (node.part == watched_part::children && seen) {
    auto changed = co_await session.async_children_change(node.path, seen->pzxid, as_result);
    error = std::get<0>(changed);
    if (!error) now = std::get<1>(changed).stat;
  } else {
    auto changed = co_await session.async_data_change(node.path, seen ? seen->mzxid : 0, as_result);
    error = std::get<0>(changed);
    if (!error) now = std::get<1>(changed).stat;
  }
  const auto self = weak.lock();
  if (!self || error == asio::error::operation_aborted || error == errc::closed) co_return;
  const auto one = self->all_.find(node);
  if (one == self->all_.end()) co_return;
  one->second.seen = now;
  one->second.is_looked_at = !error;
  one->second.is_armed = false;
  self->wake_.cancel();
}

bool node_watches::has_fired() const {
  return std::any_of(all_.begin(), all_.end(), [](const auto& each) { return !each.second.is_armed; });
}

node_watches::clock::time_point node_watches::next_look() const {
  auto next = clock::time_point::max();
  for (const auto& [node, each] : all_)
    if (each.look_due) next = std::min(next, *each.look_due);
  return next;
}

/// At those lists whose time has come.
asio::awaitable<void> node_watches::look_at_lists() {
  for (auto& [node, each] : all_) {
    if (!each.look_due || *each.look_due > clock::now()) continue;
    found_node seen;
    try {
      seen = co_await find_stat(session_, node.path);
    } catch (const failure&) {  // Whether it has changed is not known.
      each.is_looked_at = false;
      each.is_armed = false;
      co_return;
    }
    each.look_due = clock::now() + (seen ? pause_of(*seen) : pause_if_missing);
    if (seen && each.seen && seen->pzxid == each.seen->pzxid) continue;
    each.seen = seen;
    each.is_armed = false;
  }
}

asio::awaitable<void> node_watches::changed(clock::time_point limit) {
  while (!has_fired() && clock::now() < limit) {
    wake_.expires_at(std::min(limit, next_look()));
    co_await wake_.async_wait(as_result);
    co_await look_at_lists();
  }
}

namespace {

using std::chrono::milliseconds;

void grow_older(std::monostate, milliseconds) {}
void grow_older(group_status&, milliseconds) {}   // followed elsewhere
void grow_older(stream_status&, milliseconds) {}  // no broker is asked for what is followed

}  // namespace

void grow_older(topic_status& topic, milliseconds by) {
  for (auto& group : topic.groups)
    for (auto& shard : group.behind) shard.oldest += by;
}

void grow_older(commit_status& commit, milliseconds by) {
  for (auto& each : commit.undecided) each.age += by;
}

void grow_older(queue_status& queue, milliseconds by) {
  if (queue.items > 0) queue.oldest += by;
  if (queue.taker_waits) *queue.taker_waits += by;
  if (queue.parked_for) *queue.parked_for += by;
}

void grow_older(recipe_status& recipe, milliseconds by) {
  if (recipe.age) *recipe.age += by;
  for (auto& each : recipe.participants)
    if (each.age) *each.age += by;
  for (auto& each : recipe.facts)
    if (auto* since = std::get_if<milliseconds>(&each.value); since && each.name != "period_length") *since += by;
  std::visit([by](auto& original) { grow_older(original, by); }, recipe.original);
  // An item that was not due has no age to add to.
  const auto* queue = std::get_if<queue_status>(&recipe.original);
  if (queue && recipe.age) recipe.age = age_of_first(*queue);
}

}  // namespace zkadmin
