#include "electorate.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <boost/asio.hpp>

#include "support/cluster.hpp"
#include "support/coroutine.hpp"

namespace bench {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using namespace std::chrono_literals;
using namespace zkrecipes::test;

electorate::electorate(asio::io_context& io, std::string root, int elections, int candidates)
    : io_(io), root_(std::move(root)), elections_(elections), candidates_(candidates) {
  const auto hosts = join_hosts(direct_hosts());
  for (int i = 0; i < candidates; ++i)
    sessions_.emplace_back(io.get_executor(), zkrecipes::session_options{.hosts = hosts, .timeout = 30s});
  leaders_.resize(static_cast<std::size_t>(elections));
  run_coroutine(io_, make_folder());
  for (int i = 0; i < elections; ++i)
    for (std::size_t session = 0; session < sessions_.size(); ++session) stand(i, session);
  const auto all_lead = [this] { return std::ranges::none_of(leaders_, &std::deque<seat>::empty); };
  if (!run_until(io_, all_lead, 5min)) throw std::runtime_error("no leaders");
  if (elections > 0) run_coroutine(io_, until_all_stand());
}

electorate::~electorate() { run_coroutine(io_, close()); }

void electorate::stand(int which, std::size_t session) {
  zkrecipes::election election(sessions_[session], path(which), {.id = "candidate-" + std::to_string(session)});
  const auto keep = [this, which, session](zkrecipes::error_code error, zkrecipes::ownership won) {
    if (!error) leaders_[static_cast<std::size_t>(which)].push_back({session, std::move(won)});
  };
  election.async_campaign(asio::bind_executor(io_, keep));
}

void electorate::change() {
  const int which = next_;
  next_ = (next_ + 1) % elections_;
  auto& leaders = leaders_[static_cast<std::size_t>(which)];
  if (leaders.empty()) return;  // the lead still passes on from the last change
  const auto left = leaders.front().session;
  leaders.pop_front();  // whose end releases it
  stand(which, left);
}

awaitable<bool> electorate::make_folder() {
  co_await sessions_.front().async_ensure_path(root_, use_awaitable);
  co_return true;
}

/// Waits for the last election only: in each session the candidates get in line in the order in which they campaign.
awaitable<bool> electorate::until_all_stand() {
  for (std::int64_t seen = 0;;) {
    auto all = co_await sessions_.front().async_children_change(path(elections_ - 1), seen, use_awaitable);
    if (static_cast<int>(all.names.size()) == candidates_) co_return true;
    seen = all.stat.pzxid;
  }
}

awaitable<bool> electorate::close() {
  for (auto& each : sessions_) co_await each.async_close(use_awaitable);
  leaders_.clear();
  co_return true;
}

}  // namespace bench
