#include "director.hpp"

#include <csignal>
#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <utility>

#include <unistd.h>

#include "audit.hpp"
#include "phases.hpp"

namespace demo {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

namespace {

constexpr int replicas = 3;

const char* to_option(zkrecipes::message_order order) {
  if (order == zkrecipes::message_order::strict) return "strict";
  return order == zkrecipes::message_order::by_key ? "key" : "none";
}

}  // namespace

director::director(asio::io_context& io, const direction& how)
    : io_(io),
      how_(how),
      times_(choose_timings(how)),
      work_(how.work),
      random_(how.work.seed),
      ensemble_({.servers = 3, .tick_time = times_.tick}),
      log_(phases_.path() / "director"),
      session_(io.get_executor(), session_options(ensemble_.hosts())),
      queue_(session_, queue_path),
      observer_(session_, [this](const std::string& text) { say(text); }),
      progress_(session_),
      consumers_(
          replicas, how.work.killers > 0, log_, [this](const std::string& id) { return launch_consumer(id); },
          [this](const std::string& text) { say(text); }) {
  summary_.planned_kills = how.kills;
  summary_.planned_server_kills = how.server_kills;
}

void director::say(const std::string& text) {
  if (dashboard_.pid()) return;
  const auto passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  char stamp[16];
  std::snprintf(stamp, sizeof stamp, "%7.2f  ", passed);
  (how_.json ? std::cerr : std::cout) << stamp << text << std::endl;
}

/// Runs a function of the ensemble on another thread: these functions block, and our session must go on sending
/// heartbeats.
awaitable<void> director::blocking(std::function<void()> call) {
  auto body = [](std::function<void()> what) -> awaitable<void> {
    what();
    co_return;
  };
  co_await asio::co_spawn(blocking_pool_, body(std::move(call)), use_awaitable);
}

process director::launch_consumer(const std::string& id) {
  return process(beside("zkrecipes-demo"),
                 {"consume", "--hosts", ensemble_.hosts(), "--id", id, "--phases", phases_.path().string(), "--parent",
                  std::to_string(::getpid()), "--timeout", std::to_string(times_.timeout.count()), "--deadline",
                  std::to_string(times_.deadline.count()), "--order", to_option(how_.order)});
}

void director::start_producer() {
  const auto& work = how_.work;
  producer_ = process(beside("zkrecipes-demo"),
                      {"produce", "--hosts", ensemble_.hosts(), "--messages", std::to_string(work.messages), "--seed",
                       std::to_string(work.seed), "--poison", std::to_string(work.poison), "--kill-on",
                       std::to_string(work.killers), "--keys", std::to_string(work.keys), "--duration",
                       std::to_string(times_.production.count()), "--parent", std::to_string(::getpid())});
  say("producer started: " + std::to_string(work.messages) + " messages, " + std::to_string(work.poison) +
      " of them poison, " + std::to_string(work.killers) + " that kill");
}

/// Starts the consumers again that have ended.
awaitable<void> director::supervise() {
  while (!settling_) {
    for (const auto& id : consumers_.supervise()) {
      const auto& view = observer_.view();
      if (view.leader == id) observer_.terms()[view.epoch].ended = "died";
    }
    asio::steady_timer pause(io_, std::chrono::milliseconds(50));
    co_await pause.async_wait(use_awaitable);
  }
}

awaitable<void> director::set_up() {
  say("three servers: " + ensemble_.hosts());
  const std::string results = results_path;
  co_await session_.async_ensure_path(results, use_awaitable);
  asio::co_spawn(io_, observer_.run(), asio::detached);
  for (int i = 0; i < consumers_.size(); ++i) consumers_.start(i);
  asio::co_spawn(io_, supervise(), asio::detached);
  start_producer();
  if (!how_.json && ::isatty(STDOUT_FILENO) && ::isatty(STDIN_FILENO)) {
    dashboard_ = process(beside("zkadmin"), {"--hosts", ensemble_.hosts(), "--root", root});
  }
}

/// Waits until all messages are put, and the queue is empty: each is done or parked.
awaitable<void> director::wait_settled() {
  while (!producer_.has_ended()) co_await pause_between();
  if (producer_.wait() != 0) throw std::runtime_error("the producer failed");
  for (;;) {
    const auto left = co_await queue_.async_size(use_awaitable);
    if (left == 0) co_return;
    co_await pause_between();
  }
}

/// Waits until all messages are settled, ends the consumers, and waits until the processes have ended.
awaitable<void> director::settle() {
  co_await wait_settled();
  settling_ = true;
  std::function<void()> stop = [this] { consumers_.stop(); };
  co_await blocking(stop);
  summary_.failed_consumers = consumers_.failed();
  summary_.runs_ended = consumers_.runs_ended();
  summary_.killed_by_messages = consumers_.died();
  if (dashboard_.pid()) {
    dashboard_.signal(SIGTERM);
    dashboard_.wait();
  }
}

awaitable<void> director::judge() {
  const auto results = co_await read_results(session_);
  const auto letters = co_await queue_.async_dead_letters(use_awaitable);
  for (const auto& each : letters) {
    say("parked: \"" + each.data + "\" after " + std::to_string(each.attempts) + " attempts: " + each.reason);
  }
  summary_.terms = observer_.terms();
  complete(summary_.terms, results);
  summary_.counts = check(results, letters, work_, how_.order);
  summary_.counts.overlapping_phases = count_overlaps(read_phases(phases_.path()));
  summary_.saw_hand_over = observer_.saw_hand_over();
}

awaitable<void> director::run() {
  co_await set_up();
  co_await make_trouble();
  co_await settle();
  co_await judge();
  summary_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  co_await session_.async_close(use_awaitable);
}

}  // namespace demo
