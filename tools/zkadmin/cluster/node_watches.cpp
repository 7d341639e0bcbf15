#include "cluster/node_watches.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "failure.hpp"
#include "for_each_index.hpp"

namespace zkadmin {
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

/// Nothing: it is missing.
asio::awaitable<found_node> look_at(zkrecipes::session session, std::string path) {
  auto looked = co_await session.async_exists(path, as_result);
  const error_code error = std::get<0>(looked);
  if (error == errc::no_node) co_return std::nullopt;
  check(error, "looking at " + path);
  co_return std::get<1>(looked);
}

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
  if (!std::exchange(one.is_looked_at, true)) seen = co_await look_at(session_, node.path);
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
      seen = co_await look_at(session_, node.path);
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

}  // namespace zkadmin
