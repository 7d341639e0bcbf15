#include "cluster/live_views.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <zkrecipes/consumer/shard_group_follower.hpp>
#include <zkrecipes/election.hpp>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "cluster/collector.hpp"
#include "cluster/status.hpp"

namespace zkadmin {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using zkrecipes::errc;
using zkrecipes::error_code;

constexpr auto pause_after_a_refusal = 10s;  // The follower goes on by itself.
constexpr auto records_pause = 3s;           // The members and the records of their terms are read independently.
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
  const bool had_members = one->second.view && !one->second.view->members.empty();
  if (had_members && view.members.empty()) one->second.emptied = std::chrono::steady_clock::now();
  one->second.view = std::make_shared<const zkrecipes::shard_group_view>(std::move(view));
  if (on_change_) on_change_();
}

group_survey live_groups::survey(const std::function<group_planner(const std::string&)>& planner_of) const {
  const auto now = std::chrono::system_clock::now();
  const auto settled = std::chrono::steady_clock::now() - records_pause;
  group_survey all;
  for (const auto& [path, each] : all_) {
    if (!each.is_known) {
      all.complete = false;
      all.notes.push_back({path, each.view ? unread_again : "it has not been read yet"});
    }
    if (!each.view) continue;
    reading<group_status> seen{each.error, {}};
    if (!each.error) seen.status = status_of(path, *each.view, planner_of(path), now);
    if (each.emptied > settled) seen.status.has_open_terms = false;
    try {
      add_to(all, path, std::move(seen));
    } catch (const failure& error) {
      all.complete = false;
      all.notes.push_back({path, error.what()});
    }
  }
  return all;
}

namespace {

using std::chrono::steady_clock;

constexpr auto pause_after_a_failure = 1s;
constexpr std::size_t elections_at_a_time = requests_at_a_time / 4;  // A view asks for several things at once.
constexpr auto loss_interval = 50ms;      // A step of a hand-over that is shorter is no news.
constexpr auto pause_for_a_right = 1min;  // No watch tells that an ACL has changed.

zkrecipes::election election_at(const zkrecipes::session& session, const std::string& path) {
  return {session, path, {.id = "zkadmin"}};
}

asio::awaitable<void> sleep_for(steady_clock::duration pause) {
  asio::steady_timer timer(co_await asio::this_coro::executor, pause);
  co_await timer.async_wait(asio::use_awaitable);
}

/// Waits until another look may give something else than this error: the node has other data, or is gone; a minute at
/// most.
asio::awaitable<void> await_other_data(zkrecipes::session session, std::string path, error_code error) {
  using asio::experimental::awaitable_operators::operator||;
  auto looked = co_await session.async_exists(path, as_result);
  if (std::get<0>(looked)) co_return co_await sleep_for(pause_after_a_failure);
  // The data may have changed between the last look and this one.
  auto election = election_at(session, path);
  auto again = co_await election.async_view(as_result);
  if (std::get<0>(again) != error) co_return;
  co_await (session.async_data_change(path, std::get<1>(looked).mzxid, as_result) || sleep_for(pause_for_a_right));
}

/// Waits as long as nothing is to be expected from another look.
asio::awaitable<void> await_another_try(zkrecipes::session session, std::string path, error_code error) {
  if (error == errc::foreign_data || error == errc::no_auth) co_return co_await await_other_data(session, path, error);
  if (error && error != errc::no_node) co_await sleep_for(pause_after_a_failure);
}

/// The next view; the present one, if none is known, unless the node has gone and is waited for.
asio::awaitable<live_elections::next_look> look_again(zkrecipes::session session, std::string path,
                                                      zkrecipes::election_view seen, bool has_gone) {
  auto election = election_at(session, path);
  live_elections::next_look next;
  if (seen.fingerprint.empty() && !has_gone) {
    std::tie(next.error, next.view) = co_await election.async_view(as_result);
  } else {
    std::tie(next.error, next.view) = co_await election.async_view_change(seen, as_result);
  }
  co_return next;
}

/// Whether the look has told what is there.
bool is_told(const error_code& error) {
  return !error || error == errc::no_node || error == errc::foreign_data || error == errc::no_auth;
}

bool is_final(const error_code& error) {
  return error == asio::error::operation_aborted || error == errc::closed || error == errc::auth_failed;
}

}  // namespace

std::shared_ptr<live_elections> live_elections::make(zkrecipes::session session, hooks callbacks) {
  return std::shared_ptr<live_elections>(new live_elections(std::move(session), std::move(callbacks)));
}

live_elections::live_elections(zkrecipes::session session, hooks callbacks)
    : session_(std::move(session)), callbacks_(std::move(callbacks)) {}

asio::awaitable<void> live_elections::follow(std::vector<std::string> paths, deadline limit) {
  const std::set<std::string> wanted(paths.begin(), paths.end());
  has_others_ |= std::erase_if(all_, [&wanted](const auto& each) { return !wanted.contains(each.first); }) > 0;
  for (const auto& each : paths) has_others_ |= all_.try_emplace(each).second;
  std::erase_if(paths, [this](const auto& each) { return all_[each].is_read; });
  const auto begin_one = [this, &paths, limit](std::size_t i) { return begin(paths[i], limit); };
  co_await for_each_index(paths.size(), elections_at_a_time, begin_one);
}

/// The first look. One that fails is noted, and tried again with the next `follow`. Without a connection none is tried.
asio::awaitable<void> live_elections::begin(std::string path, deadline limit) {
  if (steady_clock::now() >= limit) co_return;
  auto election = election_at(session_, path);
  auto [error, view] = co_await election.async_view(as_result);
  std::optional<election_status> status;
  try {
    status = co_await status_of_look(session_, path, error, view);
  } catch (const failure& why) {
    if (session_.status().state != zkrecipes::session_state::connected) throw;
    all_[path].trouble = why.what();
    has_others_ = true;
    co_return;
  }
  set(path, std::move(status));
  const auto one = all_.find(path);
  if (one == all_.end()) co_return;
  auto task = follow_one(path, error ? zkrecipes::election_view() : view, error);
  one->second.task = background_task(session_.get_executor(), std::move(task));
}

/// Does not keep the others alive: their end cancels the task. `last`: the error of the last look.
asio::awaitable<void> live_elections::follow_one(std::string path, zkrecipes::election_view seen, error_code last) {
  const auto weak = weak_from_this();
  const auto session = session_;
  for (;;) {
    co_await await_another_try(session, path, last);
    auto next = co_await look_again(session, path, std::move(seen), last == errc::no_node);
    if (is_final(next.error)) co_return;
    bool is_shown = true;
    if (is_told(next.error)) is_shown = co_await take_over(weak, session, path, next);
    if (weak.expired()) co_return;
    // A view that was not shown is looked at once more.
    last = is_shown ? next.error : error_code(errc::connection_loss);
    seen = last ? zkrecipes::election_view() : std::move(next.view);
  }
}

/// False: the rest could not be read.
asio::awaitable<bool> live_elections::take_over(std::weak_ptr<live_elections> all, zkrecipes::session session,
                                                std::string path, const next_look& next) {
  std::optional<election_status> status;
  try {
    status = co_await status_of_look(std::move(session), path, next.error, next.view);
  } catch (const failure&) {
    co_return false;
  }
  if (const auto self = all.lock()) self->set(path, std::move(status));
  co_return true;
}

/// Without a status the election's node is gone. It is followed on, because it may come back.
void live_elections::set(const std::string& path, std::optional<election_status> status) {
  const auto one = all_.find(path);
  if (one == all_.end()) return;
  const auto now = steady_clock::now();
  const bool is_unshown = !unshown_.insert(path).second;
  if (is_unshown && callbacks_.before_loss && now >= one->second.loss_due) {
    one->second.loss_due = now + loss_interval;
    callbacks_.before_loss(path, one->second.status);
  }
  one->second.is_read = true;
  one->second.status = std::move(status);
  one->second.read_at = now;
  if (callbacks_.on_change) callbacks_.on_change();
}

void live_elections::forget_watches() {
  for (auto& [path, each] : all_) {
    each.task = {};
    each.is_read = false;
    each.trouble.clear();
  }
  has_others_ = true;
}

bool live_elections::has_news() const {
  const auto grows_older = [](const auto& each) { return each.second.status && has_ages(*each.second.status); };
  return has_others_ || !unshown_.empty() || std::any_of(all_.begin(), all_.end(), grows_older);
}

election_survey live_elections::survey() {
  unshown_.clear();
  has_others_ = false;
  const auto now = steady_clock::now();
  election_survey all;
  for (const auto& [path, each] : all_) {
    if (!each.is_read) {
      const bool has_failed = !each.trouble.empty();
      all.complete = false;
      all.notes.push_back(
          {path, has_failed ? each.trouble : "it was not looked at: the time was over; choose a longer --timeout"});
    }
    if (!each.status) continue;
    all.found.push_back(*each.status);
    grow_older(all.found.back(), std::chrono::duration_cast<std::chrono::milliseconds>(now - each.read_at));
    all.refused |= each.status->phase == refused_phase;
  }
  return all;
}

bool live_elections::is_ready() const {
  return std::all_of(all_.begin(), all_.end(), [](const auto& each) { return each.second.is_read; });
}

const election_status* live_elections::find(const std::string& path) const {
  const auto one = all_.find(path);
  return one == all_.end() || !one->second.status ? nullptr : &*one->second.status;
}

bool live_elections::is_unread(const std::string& path) const {
  const auto one = all_.find(path);
  return one != all_.end() && !one->second.is_read;
}

}  // namespace zkadmin
