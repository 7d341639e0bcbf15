// The faults of owners of shards. A fault goes on beside the next one, which hits another process.
#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <vector>

#include <testcluster/proxy.hpp>

#include "shard_director.hpp"

namespace demo {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

bool shard_director::is_up(int index) const { return consumers_.is_running(index) && !hit_.count(index); }

/// At most a third of the processes is down at a time, so that there are always some that work.
awaitable<int> shard_director::choose_owner() {
  for (;;) {
    std::vector<int> choice;
    std::size_t up = 0;
    for (int i = 0; i < consumers_.size(); ++i) {
      if (!is_up(i)) continue;
      ++up;
      if (observer_.shards_of(consumers_.id(i)) > 0) choice.push_back(i);
    }
    const auto enough = static_cast<std::size_t>(consumers_.size() - (consumers_.size() - 1) / 3);
    const std::size_t owners = std::min<std::size_t>(enough, summary_.shards);  // the others have nothing
    if (up >= enough && choice.size() >= owners) {
      co_return choice[std::uniform_int_distribution<std::size_t>(0, choice.size() - 1)(random_)];
    }
    co_await pause_between();
  }
}

/// -1 if nobody plans at the moment.
awaitable<int> shard_director::find_planner() {
  zkrecipes::election election(session_, group_path + std::string("/_planner"), {.id = "director"});
  constexpr auto token = asio::as_tuple(use_awaitable);
  const auto seen = co_await election.async_view(token);
  if (std::get<0>(seen) || !std::get<1>(seen).leader_token) co_return -1;
  co_return consumers_.index_of(std::get<1>(seen).leader);
}

void shard_director::kill(int index, const std::string& what) {
  say("SIGKILL to " + consumers_.id(index) + what);
  ++summary_.kills;
  hit_.insert(index);
  go_on_beside(start_later(index, up_to(2 * times_.timeout)));
}

awaitable<void> shard_director::kill_owner() {
  for (;;) {
    const int index = co_await choose_owner();
    if (!consumers_.silence(index, SIGKILL)) continue;
    kill(index, ", which owns " + std::to_string(observer_.shards_of(consumers_.id(index))) + " shards");
    co_return;
  }
}

awaitable<void> shard_director::kill_planner() {
  for (;;) {
    co_await choose_owner();
    const int index = co_await find_planner();
    if (index >= 0 && !hit_.count(index) && consumers_.silence(index, SIGKILL)) {
      kill(index, ", the planner");
      ++summary_.planner_kills;
      co_return;
    }
    co_await pause_between();
  }
}

awaitable<void> shard_director::start_later(int index, duration pause) {
  co_await wait_for(pause);
  consumers_.start(index);
  hit_.erase(index);
}

awaitable<void> shard_director::pause_owner() {
  for (;;) {
    const int index = co_await choose_owner();
    if (!consumers_.silence(index, SIGSTOP)) continue;
    say("SIGSTOP to " + consumers_.id(index));
    ++summary_.pauses;
    hit_.insert(index);
    go_on_beside(resume_later(index, up_to(times_.timeout)));
    co_return;
  }
}

/// After its session has ended, and others have its shards.
awaitable<void> shard_director::resume_later(int index, duration pause) {
  while (observer_.has_member(consumers_.id(index))) co_await pause_between();
  co_await wait_for(pause);
  say("SIGCONT to " + consumers_.id(index));
  consumers_.resume(index);
  hit_.erase(index);
}

awaitable<void> shard_director::restart_owner() {
  for (;;) {
    const int index = co_await choose_owner();
    if (!consumers_.dismiss(index, SIGTERM)) continue;
    say("asking " + consumers_.id(index) + " to stop, and starting it again");
    ++summary_.restarts;
    hit_.insert(index);
    const duration at_once(0);
    go_on_beside(start_after_end(index, at_once));
    co_return;
  }
}

awaitable<void> shard_director::drain_owner() {
  for (;;) {
    const int index = co_await choose_owner();
    if (!consumers_.dismiss(index, SIGUSR1)) continue;
    say("asking " + consumers_.id(index) + " to give everything away");
    ++summary_.drains;
    hit_.insert(index);
    go_on_beside(start_after_end(index, up_to(2 * times_.timeout)));
    co_return;
  }
}

awaitable<void> shard_director::start_after_end(int index, duration pause) {
  while (consumers_.is_running(index)) co_await pause_between();
  co_await wait_for(pause);
  consumers_.start(index);
  hit_.erase(index);
}

/// The connections of one server look alive, and nothing passes. Its clients go on at another server.
awaitable<void> shard_director::cut_server() {
  last_cut_ = last_cut_ % 3 + 1;
  say("the clients of server " + std::to_string(last_cut_) + " are cut off from it");
  ++summary_.cuts;
  ensemble_.proxy(last_cut_).blackhole();
  go_on_beside(heal_later(last_cut_));
  co_return;
}

awaitable<void> shard_director::heal_later(int server) {
  co_await wait_for(times_.timeout);
  ensemble_.proxy(server).heal();
}

awaitable<void> shard_director::kill_broker() {
  while (is_broker_away_) co_await pause_between();
  is_broker_away_ = true;
  ++summary_.broker_kills;
  say("SIGKILL to " + broker_->kill_next());
  go_on_beside(start_broker_later(up_to(times_.timeout)));
}

awaitable<void> shard_director::start_broker_later(duration pause) {
  co_await wait_for(pause);
  std::function<void()> start = [this] { broker_->restore(); };
  co_await blocking(start);
  is_broker_away_ = false;
  say("the broker is as before");
}

awaitable<void> shard_director::cause(fault_kind what) {
  switch (what) {
    case fault_kind::kill: return kill_owner();
    case fault_kind::kill_planner: return kill_planner();
    case fault_kind::pause: return pause_owner();
    case fault_kind::restart: return restart_owner();
    case fault_kind::drain: return drain_owner();
    case fault_kind::cut: return cut_server();
    case fault_kind::kill_broker: return kill_broker();
    case fault_kind::kill_server: return kill_server_leader();
    case fault_kind::start_server: return start_server();
    case fault_kind::outage:
    case fault_kind::crash_loop:
    case fault_kind::restore: return begin_incident(what);
    case fault_kind::resign: break;
  }
  throw std::logic_error("a fault of an election");
}

awaitable<void> shard_director::make_trouble() {
  while (observer_.owned() < summary_.shards) co_await pause_between();
  const auto plan = plan_shard_faults({how_.kills, how_.changes, how_.server_kills, how_.broker_kills, how_.incidents});
  const double spread = 0.6 / static_cast<double>(plan.size() + 10);
  for (const auto& each : plan) {
    const auto jitter = std::uniform_real_distribution<double>(0, spread)(random_);
    co_await wait_processed(each.share + jitter);
    co_await cause(each.kind);
  }
}

}  // namespace demo
