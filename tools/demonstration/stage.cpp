#include "stage.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <utility>

#include <unistd.h>

#include <testcluster/rabbit_broker.hpp>
#include <testcluster/redis_broker.hpp>

#include "phases.hpp"

namespace demo {

/// A cluster of RabbitMQ. Its nodes are killed in turn.
class rabbit_demo_broker : public demo_broker {
 public:
  rabbit_demo_broker(int nodes, std::chrono::milliseconds start_timeout)
      : broker_({.nodes = nodes, .start_timeout = start_timeout}) {}

  std::string name() const override { return "RabbitMQ"; }
  std::string address() const override { return broker_.addresses(); }
  int nodes() const noexcept override { return broker_.nodes(); }
  std::string kill_next() override {
    killed_ = killed_ % broker_.nodes() + 1;
    broker_.kill(killed_);
    return "node " + std::to_string(killed_) + " of the broker";
  }
  /// A node answers when its members of the queues run again.
  void restore() override { broker_.start(killed_); }

 private:
  testcluster::rabbit_broker broker_;
  int killed_ = 0;
};

/// One Redis server, which loses nothing that it has acknowledged.
class redis_demo_broker : public demo_broker {
 public:
  explicit redis_demo_broker(std::chrono::milliseconds start_timeout) : broker_({.start_timeout = start_timeout}) {}

  std::string name() const override { return "Redis"; }
  std::string address() const override { return broker_.address(); }
  int nodes() const noexcept override { return 1; }
  std::string kill_next() override {
    broker_.kill();
    return "the broker";
  }
  void restore() override { broker_.start(); }

 private:
  testcluster::redis_broker broker_;
};

std::unique_ptr<demo_broker> make_broker(const direction& how) {
  using namespace std::chrono_literals;
  const auto found = std::ranges::find_if(how.sources, has_broker);
  if (found == how.sources.end()) return nullptr;
  // It starts beside all processes on a busy machine.
  if (*found == source_kind::redis) return std::make_unique<redis_demo_broker>(2min);
  return std::make_unique<rabbit_demo_broker>(how.broker_nodes, 5min);
}

timings choose_timings(const direction& how) {
  using namespace std::chrono_literals;
  timings chosen;
  const bool is_rabbitmq = std::ranges::count(how.sources, source_kind::rabbitmq) > 0;
  const auto broker_pause = is_rabbitmq ? 15s : 2s;  // until it is as before a kill
  if (how.incidents > 0) {  // the timeout of a session and the deadline of a hand-over are the library's defaults
    chosen.timeout = 10s;
    chosen.deadline = 10s;
    chosen.grace = 10s;
    chosen.production = how.incidents * 60s + (how.kills + how.changes) * 5s;
  } else if (how.kills > 1 || how.server_kills > 1 || how.changes > 0) {
    chosen.tick = 200ms;
    chosen.timeout = 1s;
    chosen.deadline = 200ms;
    chosen.production = std::max<std::chrono::milliseconds>(
        15s, (how.kills + how.changes) * 2500ms + how.server_kills * 4s + how.broker_kills * broker_pause);
  }
  const auto messages = static_cast<std::int64_t>(how.work.messages);
  chosen.production = std::max(chosen.production, messages * (how.work.shards ? 2ms : 3ms));
  // A message that kills is named after two deaths. A death takes until the successor is at work.
  const auto deaths = static_cast<std::int64_t>(how.work.killers) * (2 + attempts_limit);
  chosen.time_limit = 80s + 2 * chosen.production + 2 * deaths * (chosen.timeout + chosen.deadline + 1s);
  return chosen;
}

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

namespace {

const char* to_option(zkrecipes::message_order order) {
  if (order == zkrecipes::message_order::strict) return "strict";
  return order == zkrecipes::message_order::by_key ? "key" : "none";
}

std::string in_ms(std::chrono::milliseconds length) { return std::to_string(length.count()); }

constexpr std::chrono::minutes start_timeout(2);  // a server starts beside all processes on a busy machine

}  // namespace

stage::stage(asio::io_context& io, const direction& how)
    : io_(io),
      how_(how),
      times_(choose_timings(how)),
      work_(how.work),
      random_(how.work.seed),
      ensemble_({.servers = 3,
                 .tick_time = times_.tick,
                 .delay_proxies = how.work.shards > 0,
                 .start_timeout = start_timeout}),
      broker_(make_broker(how)),
      log_(phases_.path() / "director"),
      session_(io.get_executor(), session_options(ensemble_.hosts())),
      progress_(session_),
      consumers_(
          {.size = how.consumers, .killers = how.work.killers > 0, .same_ids = how.work.shards > 0}, log_,
          [this](const std::string& id) { return launch_consumer(id); },
          [this](const std::string& text) { say(text); }),
      source_(how.sources.front()) {}

void stage::say(const std::string& text) {
  if (dashboard_.pid()) return;
  const auto passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  char stamp[16];
  std::snprintf(stamp, sizeof stamp, "%7.2f  ", passed);
  (how_.json ? std::cerr : std::cout) << stamp << text << std::endl;
}

std::string stage::guardian_socket() const { return (guardian_folder_.path() / "guardian.sock").string(); }

process stage::launch_consumer(const std::string& id) {
  std::vector<std::string> words{"consume",
                                 "--hosts",
                                 ensemble_.hosts(),
                                 "--id",
                                 id,
                                 "--phases",
                                 phases_.path().string(),
                                 "--parent",
                                 std::to_string(::getpid()),
                                 "--timeout",
                                 in_ms(times_.timeout),
                                 "--deadline",
                                 in_ms(times_.deadline),
                                 "--grace",
                                 in_ms(times_.grace),
                                 "--order",
                                 to_option(how_.order),
                                 "--shards",
                                 std::to_string(work_.shards()),
                                 "--source",
                                 name_of(source_)};
  if (how_.guardian) words.insert(words.end(), {"--guardian", guardian_socket()});
  if (how_.incidents) words.push_back("--defaults");
  if (broker_) words.insert(words.end(), {"--broker", broker_->address()});
  return process(beside("zkrecipes-demo"), words);
}

void stage::start_producer(std::size_t part) {
  const auto& work = how_.work;
  const auto parts = how_.sources.size();
  const auto first = work.messages * part / parts + 1;
  const auto last = work.messages * (part + 1) / parts;
  std::vector<std::string> words{"produce",
                                 "--hosts",
                                 ensemble_.hosts(),
                                 "--messages",
                                 std::to_string(work.messages),
                                 "--seed",
                                 std::to_string(work.seed),
                                 "--poison",
                                 std::to_string(work.poison),
                                 "--kill-on",
                                 std::to_string(work.killers),
                                 "--keys",
                                 std::to_string(work.keys),
                                 "--shards",
                                 std::to_string(work.shards),
                                 "--duration",
                                 in_ms(times_.production / static_cast<int>(parts)),
                                 "--source",
                                 name_of(how_.sources[part]),
                                 "--first",
                                 std::to_string(first),
                                 "--last",
                                 std::to_string(last),
                                 "--parent",
                                 std::to_string(::getpid())};
  if (broker_) words.insert(words.end(), {"--broker", broker_->address()});
  producer_ = process(beside("zkrecipes-demo"), words);
  say("producer started: messages " + std::to_string(first) + " to " + std::to_string(last) + " into the " +
      name_of(how_.sources[part]) + "; of all " + std::to_string(work.poison) + " are poison, and " +
      std::to_string(work.killers) + " kill");
}

/// Starts the consumers again that have ended.
awaitable<void> stage::supervise(std::function<void(const std::string& id)> died) {
  constexpr duration moment(50);
  while (!settling_) {
    for (const auto& id : consumers_.supervise()) died(id);
    co_await wait_for(moment);
  }
}

/// Waits until it listens, so that the consumers need not try again.
awaitable<void> stage::start_guardian() {
  guardian_ = process(beside("zkrecipes-demo"),
                      {"guard", "--socket", guardian_socket(), "--parent", std::to_string(::getpid())});
  while (!std::filesystem::exists(guardian_socket())) {
    if (guardian_.has_ended()) throw std::runtime_error("the guardian can not be started");
    co_await pause_between();
  }
  say("a guardian ends the sessions of consumers that are dead");
}

awaitable<void> stage::prepare() {
  if (how_.guardian) co_await start_guardian();
  say("three servers: " + ensemble_.hosts());
  if (broker_) say(broker_->name() + ": " + broker_->address());
  const std::string results = results_path;
  co_await session_.async_ensure_path(results, use_awaitable);
}

void stage::start_processes(std::function<void(const std::string& id)> died) {
  for (int i = 0; i < consumers_.size(); ++i) consumers_.start(i);
  asio::co_spawn(io_, supervise(std::move(died)), asio::detached);
  start_producer(0);
  if (!how_.json && ::isatty(STDOUT_FILENO) && ::isatty(STDIN_FILENO)) {
    dashboard_ = process(beside("zkadmin"), {"--hosts", ensemble_.hosts(), "--root", root});
  }
}

awaitable<void> stage::wait_produced() {
  while (!producer_.has_ended()) co_await pause_between();
  if (producer_.wait() != 0) throw std::runtime_error("the producer failed");
}

awaitable<void> stage::stop_processes() {
  settling_ = true;
  std::function<void()> stop = [this] { consumers_.stop(); };
  co_await blocking(stop);
  if (dashboard_.pid()) {
    dashboard_.signal(SIGTERM);
    dashboard_.wait();
  }
}

void stage::judge(figures& outcome, const std::vector<result>& results,
                  const std::vector<zkrecipes::dead_letter>& letters, const std::vector<phase_mark>& marks) {
  for (const auto& each : letters) {
    say("parked: \"" + each.data + "\" after " + std::to_string(each.attempts) + " attempts: " + each.reason);
  }
  outcome.consumers = consumers_.size();
  outcome.counts =
      check(results, letters, work_, how_.order, how_.incidents ? zkrecipes::message_retry{}.attempts : attempts_limit);
  outcome.counts.overlapping_phases = count_overlaps(marks);
  outcome.planned_server_kills = how_.server_kills;
  outcome.server_leaders_killed = server_leaders_killed_;
  outcome.failed_consumers = consumers_.failed();
  outcome.runs_ended = consumers_.runs_ended();
  outcome.killed_by_messages = consumers_.died();
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

// The waiting of a director, and the faults of servers, which take long.

awaitable<void> stage::wait_for(duration length) {
  asio::steady_timer pause(io_, length);
  co_await pause.async_wait(use_awaitable);
}

awaitable<void> stage::pause_between() {
  constexpr duration moment(50);
  co_await wait_for(moment);
  if (std::chrono::steady_clock::now() - begin_ > times_.time_limit) throw std::runtime_error("the run takes too long");
}

awaitable<void> stage::wait_processed(double share) {
  const auto enough = static_cast<std::uint64_t>(std::min(share, 1.0) * static_cast<double>(good_messages()));
  for (;;) {
    const auto count = co_await progress_.processed();
    if (count >= enough) co_return;
    co_await pause_between();
  }
}

awaitable<void> stage::wait_progress() {
  const auto since = co_await progress_.processed();
  for (;;) {
    const auto count = co_await progress_.processed();
    if (count > since || count >= good_messages()) co_return;
    co_await pause_between();
  }
}

awaitable<void> stage::wait_empty(backlog& which) {
  for (;;) {
    const auto left = co_await which.lag();
    if (left == std::uint64_t{0}) co_return;
    co_await pause_between();
  }
}

/// A message that is lost is never settled, so the wait ends also if nothing is settled for a while.
awaitable<void> stage::wait_in_hand(const std::vector<backlog*>& all) {
  constexpr std::chrono::seconds quiet(20);
  if (all.back()->counts_in_hand()) co_return;
  std::uint64_t before = 0;
  auto since = std::chrono::steady_clock::now();
  for (;;) {
    auto settled = co_await progress_.processed();
    for (auto* each : all) {
      const auto letters = co_await each->dead_letters();
      settled += letters.size();
    }
    const auto now = std::chrono::steady_clock::now();
    if (settled > before) since = now;
    before = settled;
    if (settled >= work_.messages() || now - since > quiet) co_return;
    co_await pause_between();
  }
}

/// Runs a function of the ensemble on another thread: these functions block, and our session must go on sending
/// heartbeats.
awaitable<void> stage::blocking(std::function<void()> call) {
  auto body = [](std::function<void()> what) -> awaitable<void> {
    what();
    co_return;
  };
  co_await asio::co_spawn(blocking_pool_, body(std::move(call)), use_awaitable);
}

awaitable<void> stage::kill_server_leader() {
  std::function<void()> find = [this] { killed_server_ = ensemble_.leader(); };
  co_await blocking(find);
  say("SIGKILL to server " + std::to_string(killed_server_) + ", the leader of the ensemble");
  std::function<void()> kill = [this] { ensemble_.kill(killed_server_); };
  co_await blocking(kill);
  ++server_leaders_killed_;
}

awaitable<void> stage::start_server() {
  if (killed_server_ == 0) co_return;  // it was started with all others, behind a restored backup
  std::function<void()> start = [this] { ensemble_.start(killed_server_); };
  co_await blocking(start);
  say("server " + std::to_string(killed_server_) + " is back");
}

}  // namespace demo
