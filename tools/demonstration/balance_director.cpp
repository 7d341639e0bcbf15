#include "balance_director.hpp"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <set>
#include <stdexcept>
#include <utility>

#include <unistd.h>

namespace demo {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using namespace std::chrono_literals;

namespace {

constexpr auto timeout = 1s;
constexpr auto tick = 200ms;
constexpr auto time_limit = 10min;

std::string lane_of(const std::string& id) { return lanes_path + ('/' + id); }
std::string results_of(const std::string& id) { return results_path + ('/' + id); }

}  // namespace

balance_director::balance_director(asio::io_context& io, const direction& how)
    : io_(io),
      how_(how),
      random_(how.work.seed),
      ensemble_({.servers = 3, .tick_time = tick, .start_timeout = 2min}),
      session_(io.get_executor(), session_options(ensemble_.hosts())) {
  for (int i = 1; i <= how.consumers; ++i) walkers_.push_back({"walker-" + std::to_string(i), {}, false});
  summary_.processes = how.consumers;
  summary_.messages = how.work.messages / walkers_.size() * walkers_.size();
  summary_.range = how.range;
  summary_.planned_kills = how.kills;
  summary_.planned_pauses = how.changes;
  summary_.planned_server_kills = how.server_kills;
}

void balance_director::say(const std::string& text) {
  const auto passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  char stamp[16];
  std::snprintf(stamp, sizeof stamp, "%7.2f  ", passed);
  (how_.json ? std::cerr : std::cout) << stamp << text << std::endl;
}

awaitable<void> balance_director::make_lanes() {
  say("three servers: " + ensemble_.hosts());
  for (const auto& each : walkers_) {
    const auto results = results_of(each.id);
    const std::string lanes = lanes_path;
    const auto lane = lane_of(each.id);
    const std::string nothing_done = "0";
    co_await session_.async_ensure_path(results, use_awaitable);
    co_await session_.async_ensure_path(lanes, use_awaitable);
    co_await session_.async_create(lane, nothing_done, zkrecipes::create_mode::persistent, use_awaitable);
  }
}

/// Each has another speed, so that the balance has something to do.
void balance_director::start(walker& which) {
  const auto index = static_cast<std::uint64_t>(&which - walkers_.data());
  which.running =
      process(beside("zkrecipes-demo"),
              {"walk", "--hosts", ensemble_.hosts(), "--id", which.id, "--phases", folder_.path().string(), "--parent",
               std::to_string(::getpid()), "--timeout", std::to_string(duration(timeout).count()), "--messages",
               std::to_string(how_.work.messages / walkers_.size()), "--range", std::to_string(how_.range), "--seed",
               std::to_string(random_() >> 1), "--longest", std::to_string(1000 + 4000 * index)});
  which.is_hit = false;
  say(which.id + " started");
}

balance_director::duration balance_director::up_to(duration most) {
  return duration(std::uniform_int_distribution<duration::rep>(0, most.count())(random_));
}

awaitable<void> balance_director::wait_for(duration length) {
  asio::steady_timer pause(io_, length);
  co_await pause.async_wait(use_awaitable);
  if (std::chrono::steady_clock::now() - begin_ > time_limit) throw std::runtime_error("the run takes too long");
  look_for_ended();
}

void balance_director::look_for_ended() {
  for (auto& each : walkers_) {
    if (each.is_hit || !each.running.pid() || !each.running.has_ended()) continue;
    say(each.id + " ended with status " + std::to_string(each.running.wait()));
    ++summary_.failed_processes;
    start(each);
  }
}

awaitable<std::uint64_t> balance_director::processed() {
  constexpr auto token = asio::as_tuple(use_awaitable);
  std::uint64_t sum = 0;
  for (const auto& each : walkers_) {
    const auto lane = lane_of(each.id);
    const auto read = co_await session_.async_get(lane, token);
    if (!std::get<0>(read)) sum += std::stoull(std::get<1>(read).data);
  }
  co_return sum;
}

awaitable<void> balance_director::wait_processed(std::uint64_t count) {
  for (;;) {
    const auto done = co_await processed();
    if (done >= count) co_return;
    co_await wait_for(50ms);
  }
}

std::vector<balance_director::fault> balance_director::plan_faults() {
  std::vector<fault> plan(static_cast<std::size_t>(how_.kills), fault::kill);
  plan.insert(plan.end(), static_cast<std::size_t>(how_.changes), fault::pause);
  plan.insert(plan.end(), static_cast<std::size_t>(how_.server_kills), fault::kill_server);
  std::shuffle(plan.begin(), plan.end(), random_);
  return plan;
}

awaitable<void> balance_director::make_trouble() {
  const auto plan = plan_faults();
  for (std::size_t i = 0; i < plan.size(); ++i) {
    co_await wait_processed(summary_.messages * (i + 1) / (plan.size() + 3));
    co_await cause(plan[i]);
  }
}

/// At most half of the processes are hit at a time.
awaitable<balance_director::walker*> balance_director::choose() {
  for (;;) {
    std::vector<walker*> choice;
    for (auto& each : walkers_) {
      if (!each.is_hit && !each.running.has_ended()) choice.push_back(&each);
    }
    if (choice.size() > walkers_.size() / 2) {
      co_return choice[std::uniform_int_distribution<std::size_t>(0, choice.size() - 1)(random_)];
    }
    co_await wait_for(50ms);
  }
}

void balance_director::silence(walker& which, int signal) {
  which.running.signal(signal);
  if (signal == SIGKILL) which.running.wait();
  which.is_hit = true;
}

awaitable<void> balance_director::cause(fault what) {
  if (what == fault::kill_server) co_return co_await kill_server();
  auto& which = *co_await choose();
  const bool is_kill = what == fault::kill;
  say((is_kill ? "SIGKILL to " : "SIGSTOP to ") + which.id);
  ++(is_kill ? summary_.kills : summary_.pauses);
  silence(which, is_kill ? SIGKILL : SIGSTOP);
  ++beside_;
  // Some pauses end before the session does, some after.
  auto rest = is_kill ? start_later(which, up_to(2 * timeout)) : resume_later(which, 200ms + up_to(3 * timeout));
  asio::co_spawn(io_, std::move(rest), [this](std::exception_ptr failure) {
    --beside_;
    if (failure) std::rethrow_exception(failure);
  });
}

awaitable<void> balance_director::start_later(walker& which, duration pause) {
  co_await wait_for(pause);
  start(which);
}

awaitable<void> balance_director::resume_later(walker& which, duration pause) {
  co_await wait_for(pause);
  say("SIGCONT to " + which.id);
  which.running.signal(SIGCONT);
  which.is_hit = false;
}

awaitable<void> balance_director::kill_server() {
  int leader = 0;
  std::function<void()> kill = [this, &leader] {
    leader = ensemble_.leader();
    ensemble_.kill(leader);
  };
  co_await blocking(kill);
  say("SIGKILL to server " + std::to_string(leader) + ", the leader of the ensemble");
  ++summary_.server_leaders_killed;
  co_await wait_for(timeout);
  std::function<void()> start_again = [this, &leader] { ensemble_.start(leader); };
  co_await blocking(start_again);
  say("server " + std::to_string(leader) + " is back");
}

/// These functions of the ensemble block, and our session must go on sending heartbeats.
awaitable<void> balance_director::blocking(std::function<void()> call) {
  auto body = [](std::function<void()> what) -> awaitable<void> {
    what();
    co_return;
  };
  co_await asio::co_spawn(blocking_pool_, body(std::move(call)), use_awaitable);
}

awaitable<void> balance_director::stop_all() {
  std::function<void()> stop = [this] {
    for (auto& each : walkers_) each.running.signal(SIGTERM);
    for (auto& each : walkers_) summary_.failed_processes += each.running.wait() == 0 ? 0 : 1;
  };
  co_await blocking(stop);
}

/// Each number has to be among the results of its lane once.
awaitable<void> balance_director::audit_all() {
  std::map<std::string, std::vector<step_mark>> marks;
  for (const auto& each : walkers_) {
    marks[each.id] = read_steps(folder_.path() / each.id);
    const auto folder = results_of(each.id);
    const auto listed = co_await session_.async_children(folder, use_awaitable);
    std::multiset<std::uint64_t> numbers;
    for (const auto& name : listed.names) {
      const auto path = folder + '/' + name;
      const auto node = co_await session_.async_get(path, use_awaitable);
      numbers.insert(std::stoull(node.data));
    }
    summary_.processed += numbers.size();
    for (std::uint64_t number = 1; number <= how_.work.messages / walkers_.size(); ++number) {
      const auto times = numbers.count(number);
      if (times == 0) ++summary_.lost;
      if (times > 1) summary_.duplicated += times - 1;
    }
  }
  summary_.spread = measure_spread(marks);
}

awaitable<void> balance_director::run() {
  co_await make_lanes();
  for (auto& each : walkers_) start(each);
  co_await make_trouble();
  while (beside_) co_await wait_for(50ms);
  co_await wait_processed(summary_.messages);
  say("all messages are processed");
  co_await stop_all();
  co_await audit_all();
  summary_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  co_await session_.async_close(use_awaitable);
}

}  // namespace demo
