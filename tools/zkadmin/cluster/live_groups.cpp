#include "cluster/live_groups.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <zkrecipes/consumer/shard_group_follower.hpp>

#include "base/tasks.hpp"
#include "cluster/collector.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using zkrecipes::errc;
using zkrecipes::error_code;

constexpr auto pause_after_a_refusal = 10s;  // The follower goes on by itself.
constexpr const char* unread_again = "it has not been read since the connection was lost";

}  // namespace

std::shared_ptr<live_groups> live_groups::make(zkrecipes::session session, std::function<void()> on_change) {
  return std::shared_ptr<live_groups>(new live_groups(std::move(session), std::move(on_change)));
}

live_groups::live_groups(zkrecipes::session session, std::function<void()> on_change)
    : session_(std::move(session)), on_change_(std::move(on_change)) {}

void live_groups::follow(const std::vector<std::string>& paths) {
  const std::set<std::string> wanted(paths.begin(), paths.end());
  std::erase_if(all_, [&wanted](const auto& each) { return !wanted.contains(each.first); });
  for (const auto& each : wanted) {
    if (each == "/") continue;  // no group is there
    if (std::exchange(all_[each].is_followed, true)) continue;
    all_[each].task = background_task(session_.get_executor(), follow_one(each));
  }
}

void live_groups::forget_watches() {
  for (auto& [path, each] : all_) {
    each.task = {};
    each.is_followed = false;
    each.is_known = false;
  }
}

bool live_groups::is_ready() const {
  return std::all_of(all_.begin(), all_.end(), [](const auto& each) { return each.second.is_known; });
}

/// Does not keep the others alive: their end cancels the task.
asio::awaitable<void> live_groups::follow_one(std::string path) {
  const auto weak = weak_from_this();
  zkrecipes::shard_group_follower group(session_, path);
  asio::steady_timer pause(co_await asio::this_coro::executor);
  for (std::uint64_t seen = 0;;) {
    auto [error, view] = co_await group.async_change(seen, as_result);
    if (error == asio::error::operation_aborted || error == errc::closed || error == errc::auth_failed) co_return;
    if (!error) seen = view.revision;
    const auto self = weak.lock();
    if (!self) co_return;
    self->set(path, error, std::move(view));
    if (!error) continue;
    pause.expires_after(pause_after_a_refusal);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

void live_groups::set(const std::string& path, const error_code& error, zkrecipes::shard_group_view view) {
  const auto one = all_.find(path);
  if (one == all_.end()) return;
  one->second.is_known = true;
  one->second.error = error;
  one->second.view = std::make_shared<const zkrecipes::shard_group_view>(std::move(view));
  if (on_change_) on_change_();
}

group_survey live_groups::survey(const std::function<group_planner(const std::string&)>& planner_of) const {
  const auto now = std::chrono::system_clock::now();
  group_survey all;
  for (const auto& [path, each] : all_) {
    if (!each.is_known) {
      all.complete = false;
      all.notes.push_back({path, each.view ? unread_again : "it has not been read yet"});
    }
    if (!each.view) continue;
    reading<group_status> seen{each.error, {}};
    if (!each.error) seen.status = status_of(path, *each.view, planner_of(path), now);
    try {
      add_to(all, path, std::move(seen));
    } catch (const failure& error) {
      all.complete = false;
      all.notes.push_back({path, error.what()});
    }
  }
  return all;
}

}  // namespace zkadmin
