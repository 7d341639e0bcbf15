#include "cluster/live_place.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/group_reader.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto look_at_groups_interval = 10ms;  // While the first reading of a group is waited for.
constexpr auto longest_first_reading = 5s;

template <class Survey>
void add_outline(Survey& to, election_survey outline) {
  to.complete = to.complete && outline.complete;
  to.refused = to.refused || outline.refused;
  to.notes.insert(to.notes.begin(), std::make_move_iterator(outline.notes.begin()),
                  std::make_move_iterator(outline.notes.end()));
}

}  // namespace

live_place::live_place(zkrecipes::session session, std::string root, live_elections::hooks tell,
                       std::chrono::nanoseconds proof_interval)
    : session_(session),
      root_(root),
      proof_interval_(proof_interval),
      search_(live_search::make(session, std::move(root), tell.on_change)),
      elections_(live_elections::make(session, tell)),
      groups_(live_groups::make(session, tell.on_change)) {}

asio::awaitable<void> live_place::search(deadline limit) {
  if (search_->is_due()) co_await search_->renew(limit);
  co_await elections_->follow(search_->found(recipe::election), limit);
  groups_->follow(search_->found(recipe::shard_group));
}

election_survey live_place::outline() const {
  return {{}, search_->notes(), search_->is_complete(), search_->is_refused()};
}

asio::awaitable<void> live_place::prove() {
  if (steady_clock::now() < proof_due_) co_return;
  auto looked = co_await session_.async_exists(root_, as_result);
  check(std::get<0>(looked), "looking at " + root_);
  proof_due_ = steady_clock::now() + proof_interval_;
}

asio::awaitable<election_survey> live_place::elections(deadline) {
  co_await prove();
  co_return known_elections();
}

asio::awaitable<group_survey> live_place::groups(deadline limit) {
  const auto end = std::min<deadline>(limit, steady_clock::now() + longest_first_reading);
  asio::steady_timer pause(co_await asio::this_coro::executor);
  while (!groups_->is_ready() && steady_clock::now() < end) {
    pause.expires_after(look_at_groups_interval);
    co_await pause.async_wait(as_result);
  }
  co_return known_groups();
}

election_survey live_place::known_elections() {
  auto all = elections_->survey();
  add_outline(all, outline());
  return all;
}

group_survey live_place::known_groups() const {
  const auto planner = [this](const std::string& group) {
    const auto path = group + "/_planner";
    auto known = planner_of(elections_->find(path));
    // What a search has left out may be there.
    known.is_unknown = known.is_unknown || elections_->is_unread(path) || (known.id.empty() && !search_->is_complete());
    return known;
  };
  auto all = groups_->survey(planner);
  add_outline(all, outline());
  return all;
}

}  // namespace zkadmin
