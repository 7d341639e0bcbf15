#include "cluster/live_elections.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <zkrecipes/election.hpp>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/election_reader.hpp"
#include "failure.hpp"
#include "for_each_index.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using std::chrono::steady_clock;
using zkrecipes::errc;
using zkrecipes::error_code;

constexpr auto pause_after_a_failure = 1s;
constexpr auto pause_for_a_right = 1min;  // No watch tells that an ACL has changed.

zkrecipes::election election_at(const zkrecipes::session& session, const std::string& path) {
  return {session, path, {.id = "zkadmin"}};
}

asio::awaitable<void> sleep_for(steady_clock::duration pause) {
  asio::steady_timer timer(co_await asio::this_coro::executor, pause);
  co_await timer.async_wait(asio::use_awaitable);
}

/// Waits until the node at `path` has other data, or is gone, a minute at most.
asio::awaitable<void> await_other_data(zkrecipes::session session, std::string path) {
  using asio::experimental::awaitable_operators::operator||;
  auto looked = co_await session.async_exists(path, as_result);
  if (std::get<0>(looked)) co_return co_await sleep_for(pause_after_a_failure);
  co_await (session.async_data_change(path, std::get<1>(looked).mzxid, as_result) || sleep_for(pause_for_a_right));
}

/// Waits as long as nothing is to be expected from another look.
asio::awaitable<void> await_another_try(zkrecipes::session session, std::string path, error_code error) {
  if (error == errc::foreign_data || error == errc::no_auth) co_return co_await await_other_data(session, path);
  if (error) co_await sleep_for(pause_after_a_failure);
}

struct next_look {
  error_code error;
  zkrecipes::election_view view;
};

/// The next view; the present one, if none is known.
asio::awaitable<next_look> look_again(zkrecipes::session session, std::string path, zkrecipes::election_view seen) {
  auto election = election_at(session, path);
  next_look next;
  if (seen.fingerprint.empty()) {
    std::tie(next.error, next.view) = co_await election.async_view(as_result);
  } else {
    std::tie(next.error, next.view) = co_await election.async_view_change(seen, as_result);
  }
  co_return next;
}

bool is_told(const error_code& error) {
  return !error || error == errc::no_node || error == errc::foreign_data || error == errc::no_auth;
}

bool is_final(const error_code& error) {
  return error == asio::error::operation_aborted || error == errc::closed || error == errc::auth_failed;
}

}  // namespace

std::shared_ptr<live_elections> live_elections::make(zkrecipes::session session, hooks tell) {
  return std::shared_ptr<live_elections>(new live_elections(std::move(session), std::move(tell)));
}

live_elections::live_elections(zkrecipes::session session, hooks tell)
    : session_(std::move(session)), tell_(std::move(tell)) {}

asio::awaitable<void> live_elections::follow(std::vector<std::string> paths, deadline limit) {
  const std::set<std::string> wanted(paths.begin(), paths.end());
  std::erase_if(all_, [&wanted](const auto& each) { return !wanted.contains(each.first); });
  std::erase_if(paths, [this](const auto& each) { return all_.contains(each) && all_[each].status; });
  const auto begin_one = [this, &paths, limit](std::size_t i) { return begin(paths[i], limit); };
  co_await for_each_index(paths.size(), requests_at_a_time, begin_one);
}

/// The first look. The election counts as followed, without a status, if there is no time for it.
asio::awaitable<void> live_elections::begin(std::string path, deadline limit) {
  all_.try_emplace(path);
  if (steady_clock::now() >= limit) co_return;
  auto election = election_at(session_, path);
  auto [error, view] = co_await election.async_view(as_result);
  auto status = co_await status_of_look(session_, path, error, view);
  set(path, std::move(status));
  const auto one = all_.find(path);
  if (one != all_.end())
    one->second.task = background_task(session_.get_executor(), follow_one(path, error ? decltype(view)() : view));
}

/// Does not keep the others alive: their end cancels the task.
asio::awaitable<void> live_elections::follow_one(std::string path, zkrecipes::election_view seen) {
  const auto weak = weak_from_this();
  const auto session = session_;
  const bool is_unreadable = seen.fingerprint.empty();
  if (is_unreadable) co_await await_other_data(session, path);
  for (;;) {
    auto next = co_await look_again(session, path, std::move(seen));
    if (is_final(next.error)) co_return;
    seen = next.error ? zkrecipes::election_view() : next.view;
    if (is_told(next.error)) {
      const bool goes_on = co_await take_over(weak, session, path, std::move(next.view), next.error);
      if (!goes_on) co_return;
    }
    co_await await_another_try(session, path, next.error);
  }
}

/// False: the election is gone, or nobody wants to know.
asio::awaitable<bool> live_elections::take_over(std::weak_ptr<live_elections> all, zkrecipes::session session,
                                                std::string path, zkrecipes::election_view view, error_code error) {
  std::optional<election_status> status;
  try {
    status = co_await status_of_look(std::move(session), path, error, std::move(view));
  } catch (const failure&) {  // the connection was lost at this moment: the next look tells
    co_return true;
  }
  const bool is_gone = !status;
  const auto self = all.lock();
  if (self) self->set(path, std::move(status));
  co_return self && !is_gone;
}

void live_elections::set(const std::string& path, std::optional<election_status> status) {
  const auto one = all_.find(path);
  if (one == all_.end()) return;
  const bool is_unshown = !unshown_.insert(path).second;
  if (is_unshown && tell_.before_loss) tell_.before_loss();
  unshown_.insert(path);
  if (status) {
    one->second.status = std::move(status);
    one->second.read_at = steady_clock::now();
  } else {
    all_.erase(one);
  }
  if (tell_.on_change) tell_.on_change();
}

election_survey live_elections::survey() {
  unshown_.clear();
  const auto now = steady_clock::now();
  election_survey all;
  for (const auto& [path, each] : all_) {
    if (!each.status) {
      all.complete = false;
      all.notes.push_back({path, "it was not looked at: the time was over; choose a longer --timeout"});
      continue;
    }
    all.elections.push_back(*each.status);
    grow_older(all.elections.back(), std::chrono::duration_cast<std::chrono::milliseconds>(now - each.read_at));
    all.refused |= each.status->phase == refused_phase;
  }
  return all;
}

bool live_elections::is_ready() const {
  return std::all_of(all_.begin(), all_.end(), [](const auto& each) { return each.second.status.has_value(); });
}

const election_status* live_elections::find(const std::string& path) const {
  const auto one = all_.find(path);
  return one == all_.end() || !one->second.status ? nullptr : &*one->second.status;
}

}  // namespace zkadmin
