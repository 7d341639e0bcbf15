#include "shard_director.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <boost/asio.hpp>

#include <testcluster/proxy.hpp>

#include "audit.hpp"
#include "phases.hpp"
#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::milliseconds interval(200);
constexpr int looks_for_a_line = 10;

zkrecipes::shard_group_options watcher_options(std::uint32_t shards) {
  zkrecipes::shard_group_options all;
  all.id = "director";
  all.shards = shards;
  return all;
}

const zkrecipes::group_member_view* find_node(const zkrecipes::shard_group_view& view, const std::string& node) {
  const auto found = std::ranges::find(view.members, node, &zkrecipes::group_member_view::node);
  return found == view.members.end() ? nullptr : &*found;
}

}  // namespace

shard_observer::shard_observer(zkrecipes::session session, std::uint32_t shards, shard_source& source,
                               std::function<void(const std::string&)> say)
    : session_(session), group_(session, group_path, watcher_options(shards)), source_(source), say_(std::move(say)) {}

asio::awaitable<void> shard_observer::run() {
  constexpr auto token = asio::as_tuple(asio::use_awaitable);
  asio::steady_timer pause(session_.get_executor());
  for (int looks = 1;; ++looks) {
    auto seen = co_await group_.async_view(token);
    if (zkrecipes::is_fatal(std::get<0>(seen))) co_return;
    if (!std::get<0>(seen)) on_view(std::move(std::get<1>(seen)));
    if (looks % looks_for_a_line == 0) {
      const auto left = co_await source_.lag();
      if (left) print_state(*left);
    }
    pause.expires_after(interval);
    co_await pause.async_wait(token);
  }
}

void shard_observer::on_view(zkrecipes::shard_group_view next) {
  print_members(next);
  auto members = view_.members;
  std::erase_if(members, [&](const auto& each) { return !find_node(next, each.node); });
  auto count = members.size();
  for (const auto& each : next.members) {
    if (seen_.insert(each.node).second) joins_.push_back(++count);
  }
  view_ = std::move(next);
}

void shard_observer::print_members(const zkrecipes::shard_group_view& next) {
  for (const auto& each : view_.members) {
    if (!find_node(next, each.node)) say_(each.id + " has left the group, or was taken for dead");
  }
  for (const auto& each : next.members) {
    if (!seen_.count(each.node)) say_(each.id + " has joined");
  }
}

void shard_observer::print_state(std::uint64_t lag) {
  std::string shares;
  for (const auto& each : view_.members) {
    if (!shares.empty()) shares += ", ";
    shares += each.id + ' ' + std::to_string(each.shards.size());
  }
  const auto moving = std::ranges::count_if(view_.shards, &zkrecipes::shard_view::is_moving);
  const auto text = std::to_string(owned()) + " of " + std::to_string(view_.count) + " shards at work (" + shares +
                    "), " + std::to_string(moving) + " moving, " + std::to_string(lag) + " messages wait";
  if (text != told_) say_(text);
  told_ = text;
}

const zkrecipes::group_member_view* shard_observer::find(const std::string& id) const {
  const zkrecipes::group_member_view* last = nullptr;  // one that has died may still be there beside its successor
  for (const auto& each : view_.members) {
    if (each.id == id) last = &each;
  }
  return last;
}

std::string shard_observer::node_of(const std::string& id) const {
  const auto* found = find(id);
  return found ? found->node : std::string();
}

std::size_t shard_observer::shards_of(const std::string& id) const {
  const auto* found = find(id);
  return found ? found->shards.size() : 0;
}

std::size_t shard_observer::owned() const {
  return static_cast<std::size_t>(std::ranges::count_if(view_.shards, [this](const zkrecipes::shard_view& each) {
    return each.phase == zkrecipes::term_phase::executing && !each.is_moving() && find_node(view_, each.assigned_to);
  }));
}

using asio::awaitable;
using asio::use_awaitable;

shard_director::shard_director(asio::io_context& io, const direction& how)
    : stage(io, how),
      messages_(make_shard_source(source_, session_, how.work.shards, address_of_broker())),
      observer_(session_, how.work.shards, *messages_, [this](const std::string& text) {
        if (!is_settled_) say(text);
      }) {
  summary_.shards = how.work.shards;
  summary_.source = name_of(source_);
  summary_.broker_nodes = broker_ ? broker_->nodes() : 0;
  summary_.planned_kills = how.kills;
  summary_.planned_changes = how.changes;
  summary_.planned_broker_kills = how.broker_kills;
  summary_.planned_incidents = how.incidents;
}

/// Runs the rest of a fault beside the next ones. What it throws ends the run.
void shard_director::go_on_beside(awaitable<void> rest) {
  ++beside_;
  asio::co_spawn(io_, std::move(rest), [this](std::exception_ptr failure) {
    --beside_;
    if (failure) std::rethrow_exception(failure);
  });
}

shard_director::duration shard_director::up_to(duration most) {
  return duration(std::uniform_int_distribution<duration::rep>(0, most.count())(random_));
}

/// Waits until all messages are put and settled, and each shard is with its owner.
awaitable<void> shard_director::wait_settled() {
  co_await wait_produced();
  for (;;) {
    const auto left = co_await messages_->lag();
    const auto members = observer_.view().members.size();
    if (left == std::uint64_t{0} && observer_.owned() == summary_.shards &&
        members == static_cast<std::size_t>(how_.consumers))
      break;
    co_await pause_between();
  }
  const std::vector<backlog*> all{messages_.get()};
  co_await wait_in_hand(all);
  say("all messages are settled, and all shards are owned");
}

awaitable<void> shard_director::run() {
  co_await prepare();
  asio::co_spawn(io_, observer_.run(), asio::detached);
  start_processes([](const std::string&) {});
  co_await make_trouble();
  while (beside_) co_await pause_between();
  co_await wait_settled();
  is_settled_ = true;
  summary_.owned = static_cast<std::uint32_t>(observer_.owned());
  summary_.joins = observer_.joins().size();
  const auto settled_ns = monotonic_ns();
  std::vector<std::int64_t> epochs;
  for (const auto& each : observer_.view().shards) epochs.push_back(each.epoch);
  co_await stop_processes();
  auto marks = read_phases(phases_.path());
  std::erase_if(marks, [&](const phase_mark& each) { return each.time_ns > settled_ns; });
  summary_.moves = count_moves(marks, epochs, observer_.joins());
  const auto results = co_await read_results(session_);
  const auto letters = co_await messages_->dead_letters();
  judge(summary_, results, letters, read_phases(phases_.path()));
  co_await session_.async_close(use_awaitable);
}

// The faults of owners of shards. A fault goes on beside the next one, which hits another process.

/// At most a third of the processes is down at a time, so that there are always some that work.
awaitable<int> shard_director::choose_owner() {
  for (;;) {
    std::vector<int> choice;
    std::size_t up = 0;
    for (int i = 0; i < consumers_.size(); ++i) {
      if (!consumers_.is_running(i) || hit_.count(i)) continue;
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
  go_on_beside(start_after_end(index, up_to(2 * times_.timeout)));
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

/// It is asked to stop, and started at once; or to give everything away, and started later.
awaitable<void> shard_director::dismiss_owner(fault_kind how) {
  const bool is_drain = how == fault_kind::drain;
  for (;;) {
    const int index = co_await choose_owner();
    if (!consumers_.dismiss(index, is_drain ? SIGUSR1 : SIGTERM)) continue;
    say("asking " + consumers_.id(index) + (is_drain ? " to give everything away" : " to stop, and starting it again"));
    ++(is_drain ? summary_.drains : summary_.restarts);
    hit_.insert(index);
    const auto pause = is_drain ? up_to(2 * times_.timeout) : duration(0);
    go_on_beside(start_after_end(index, pause));
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
    case fault_kind::restart:
    case fault_kind::drain: return dismiss_owner(what);
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

// The incidents of the surroundings: nobody helps by hand, and all work has to go on.

namespace fs = std::filesystem;

namespace {

/// The data folders of all servers below `from`, each into the folder of the same name below `to`.
void copy_data(const fs::path& from, const fs::path& to) {
  for (const auto& server : fs::directory_iterator(from)) {
    const auto data = server.path() / "data";
    if (!fs::exists(data / "version-2")) continue;
    const auto there = to / server.path().filename() / "data" / "version-2";
    fs::remove_all(there);
    fs::create_directories(there);
    fs::copy(data / "version-2", there, fs::copy_options::recursive);
  }
}

}  // namespace

awaitable<void> shard_director::begin_incident(fault_kind what) {
  while (has_incident_) co_await pause_between();
  has_incident_ = true;
  if (what == fault_kind::restore) {
    co_await restore_backup();
  } else if (what == fault_kind::crash_loop) {
    go_on_beside(crash_in_a_loop());
  } else {
    const duration shortest(1'000);
    go_on_beside(interrupt_database(shortest + up_to(std::chrono::seconds(59))));
  }
}

/// Waits until one more message is processed, and until shards are executed again.
awaitable<void> shard_director::wait_recovery(std::string what) {
  const auto begin = std::chrono::steady_clock::now();
  co_await wait_progress();
  while (2 * observer_.owned() < summary_.shards) co_await pause_between();
  const auto passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  summary_.slowest_recovery = std::max(summary_.slowest_recovery, passed);
  say(what + ": work goes on after " + std::to_string(passed) + " s, " + std::to_string(observer_.owned()) +
      " shards are executed");
  has_incident_ = false;
}

awaitable<void> shard_director::interrupt_database(duration length) {
  const auto file = phases_.path() / outage_file;
  say("the database of the consumers is away for " + std::to_string(length.count()) + " ms");
  std::ofstream{file};
  co_await wait_for(length);
  fs::remove(file);
  ++summary_.outages;
  co_await wait_recovery("the database is back");
}

/// Kills a process again and again, soon after each start.
awaitable<void> shard_director::crash_in_a_loop() {
  constexpr int rounds = 6;
  const int index = co_await choose_owner();
  hit_.insert(index);
  say(consumers_.id(index) + " crashes in a loop");
  for (int i = 0; i < rounds; ++i) {
    consumers_.silence(index, SIGKILL);
    co_await wait_for(up_to(std::chrono::seconds(2)));
    consumers_.start(index);
    co_await wait_for(up_to(std::chrono::seconds(6)));
  }
  hit_.erase(index);
  ++summary_.crash_loops;
  co_await wait_recovery("the crashes of " + consumers_.id(index) + " have ended");
}

/// As docs/deployment.md has it: all servers are stopped for longer than a session lasts before older data is put back.
/// The producer is one more client that takes up what it finds.
awaitable<void> shard_director::restore_backup() {
  scratch backup;
  std::function<void()> copy = [&] { copy_data(ensemble_.dir(), backup.path()); };
  co_await blocking(copy);
  say("a backup was made");
  co_await wait_for(2 * times_.timeout);
  say("all servers are stopped, and the backup is restored");
  std::function<void()> stop = [this] {
    for (const auto& each : ensemble_.nodes()) {
      if (each.running) ensemble_.kill(each.id);
    }
  };
  co_await blocking(stop);
  co_await wait_for(times_.timeout + 2 * times_.tick);
  producer_ = {};
  std::function<void()> start = [&] {
    copy_data(backup.path(), ensemble_.dir());
    for (const auto& each : ensemble_.nodes()) ensemble_.start(each.id);
  };
  co_await blocking(start);
  killed_server_ = 0;
  start_producer(0);
  ++summary_.restores;
  co_await wait_recovery("the servers are back with older data");
}

}  // namespace demo
