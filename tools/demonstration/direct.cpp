// Injects faults while messages flow, and waits until all messages are processed.
#include <csignal>
#include <filesystem>
#include <iostream>
#include <random>
#include <vector>

#include <unistd.h>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include <testcluster/ensemble.hpp>

#include "audit.hpp"
#include "observer.hpp"
#include "phase_log.hpp"
#include "phases.hpp"
#include "process.hpp"
#include "report.hpp"
#include "roles.hpp"
#include "summary.hpp"

namespace demo {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using namespace std::chrono_literals;

zkrecipes::session_options session_options(const std::string& hosts) {
  return {.hosts = hosts, .timeout = 4s, .root = root, .create_root = true};
}

namespace {

constexpr int replicas = 3;
constexpr auto production = 30s;  // the messages are spread over this time
constexpr auto patience = 110s;   // limit for the whole run

/// A temporary folder, which the destructor removes.
struct scratch {
  scratch() : path(std::filesystem::temp_directory_path() / ("zkrecipes-demo-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path);
  }
  scratch(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

std::string consumer_id(int index) { return "consumer-" + std::to_string(index + 1); }

class director {
 public:
  director(asio::io_context& io, const direction& how)
      : io_(io),
        how_(how),
        random_(how.seed),
        ensemble_({.servers = 3, .tick_time = 500ms}),
        director_log_(phases_.path / "director"),
        session_(io.get_executor(), session_options(ensemble_.hosts())),
        observer_(session_, [this](const std::string& text) { say(text); }) {}

  awaitable<void> run();
  const summary& outcome() const noexcept { return summary_; }

 private:
  awaitable<void> set_up();
  awaitable<void> make_trouble();
  awaitable<void> planned_hand_over();
  awaitable<void> kill_consumer();
  awaitable<void> pause_consumer();
  awaitable<void> kill_server_leader();
  awaitable<void> wait_processed(double share);
  awaitable<void> wait_leader(std::int64_t after);
  awaitable<void> pause_between();
  awaitable<std::uint64_t> processed();
  awaitable<void> blocking(std::function<void()> call);
  awaitable<void> settle();
  void start_consumer(int index);
  void silence(int index, int signal);
  int leading_index() const;
  void say(const std::string& text);

  asio::io_context& io_;
  direction how_;
  std::mt19937_64 random_;
  testcluster::ensemble ensemble_;
  scratch phases_;
  phase_log director_log_;
  zkrecipes::session session_;
  observer observer_;
  asio::thread_pool blocking_pool_{1};
  std::vector<process> consumers_{replicas};
  process producer_;
  process dashboard_;
  summary summary_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

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

void director::start_consumer(int index) {
  const auto id = consumer_id(index);
  consumers_[index] =
      process(beside("zkrecipes-demo"), {"consume", "--hosts", ensemble_.hosts(), "--id", id, "--phases",
                                         phases_.path.string(), "--parent", std::to_string(::getpid())});
  say(id + " started");
}

/// Stops or kills a consumer, and logs that none of its phases goes on any more.
void director::silence(int index, int signal) {
  consumers_[index].signal(signal);
  if (signal == SIGKILL) consumers_[index].wait();
  director_log_.note(silenced(consumer_id(index)));
}

int director::leading_index() const {
  for (int i = 0; i < replicas; ++i) {
    if (observer_.view().leader == consumer_id(i)) return i;
  }
  return -1;
}

awaitable<std::uint64_t> director::processed() {
  auto stat = co_await session_.async_exists(results_path, use_awaitable);
  co_return static_cast<std::uint64_t>(stat.num_children);
}

awaitable<void> director::pause_between() {
  asio::steady_timer pause(io_, 50ms);
  co_await pause.async_wait(use_awaitable);
  if (std::chrono::steady_clock::now() - begin_ > patience) throw std::runtime_error("the run takes too long");
}

awaitable<void> director::wait_processed(double share) {
  const auto jitter = std::uniform_real_distribution<double>(0, 0.04)(random_);
  const auto enough = static_cast<std::uint64_t>((share + jitter) * static_cast<double>(how_.messages));
  for (;;) {
    const auto count = co_await processed();
    if (count >= std::min(enough, how_.messages)) co_return;
    co_await pause_between();
  }
}

awaitable<void> director::wait_leader(std::int64_t after) {
  while (observer_.view().epoch <= after || observer_.view().phase != zkrecipes::term_phase::executing ||
         leading_index() < 0) {
    co_await pause_between();
  }
}

awaitable<void> director::planned_hand_over() {
  const auto epoch = observer_.view().epoch;
  say("asking " + observer_.view().leader + " to hand over");
  observer_.terms()[epoch].ended = "resign";
  zkrecipes::election election(session_, election_path, {.id = "director"});
  co_await election.async_request_resignation(use_awaitable);
  co_await wait_leader(epoch);
}

awaitable<void> director::kill_consumer() {
  co_await wait_leader(0);  // between two terms there is nobody to stop
  const auto epoch = observer_.view().epoch;
  const int index = leading_index();
  say("SIGKILL to the leading " + consumer_id(index));
  observer_.terms()[epoch].ended = "kill";
  silence(index, SIGKILL);
  co_await wait_leader(epoch);
  start_consumer(index);
}

awaitable<void> director::pause_consumer() {
  co_await wait_leader(0);  // between two terms there is nobody to stop
  const auto epoch = observer_.view().epoch;
  const int index = leading_index();
  say("SIGSTOP to the leading " + consumer_id(index));
  observer_.terms()[epoch].ended = "pause";
  silence(index, SIGSTOP);
  co_await wait_leader(epoch);
  const auto since = co_await processed();
  while (co_await processed() == since) co_await pause_between();
  say("SIGCONT to " + consumer_id(index));
  consumers_[index].signal(SIGCONT);
}

awaitable<void> director::kill_server_leader() {
  int leader = 0;
  co_await blocking([&] { leader = ensemble_.leader(); });
  say("SIGKILL to server " + std::to_string(leader) + ", the leader of the ensemble");
  co_await blocking([&] { ensemble_.kill(leader); });
  ++summary_.server_leaders_killed;
  co_await wait_processed(0.9);
  co_await blocking([&] { ensemble_.start(leader); });
  say("server " + std::to_string(leader) + " is back");
}

awaitable<void> director::make_trouble() {
  co_await wait_leader(0);
  co_await wait_processed(0.1);
  co_await planned_hand_over();
  co_await wait_processed(0.25);
  co_await kill_consumer();
  co_await wait_processed(0.45);
  co_await planned_hand_over();
  co_await wait_processed(0.5);
  co_await pause_consumer();
  co_await wait_processed(0.75);
  co_await kill_server_leader();
}

awaitable<void> director::set_up() {
  say("three servers: " + ensemble_.hosts());
  co_await session_.async_ensure_path(results_path, use_awaitable);
  asio::co_spawn(io_, observer_.run(), asio::detached);
  for (int i = 0; i < replicas; ++i) start_consumer(i);
  const auto parent = std::to_string(::getpid());
  const auto duration = std::to_string(std::chrono::milliseconds(production).count());
  producer_ =
      process(beside("zkrecipes-demo"), {"produce", "--hosts", ensemble_.hosts(), "--messages",
                                         std::to_string(how_.messages), "--duration", duration, "--parent", parent});
  say("producer started: " + std::to_string(how_.messages) + " messages");
  if (!how_.json && ::isatty(STDOUT_FILENO) && ::isatty(STDIN_FILENO)) {
    dashboard_ = process(beside("zkadmin"), {"--hosts", ensemble_.hosts(), "--root", root});
  }
}

/// Waits until all messages are processed, ends the consumers, and waits until the processes have ended.
awaitable<void> director::settle() {
  co_await wait_processed(1.0);
  co_await blocking([&] {
    if (producer_.wait() != 0) throw std::runtime_error("the producer failed");
  });
  for (auto& each : consumers_) each.signal(SIGTERM);
  co_await blocking([&] {
    for (auto& each : consumers_) summary_.failed_consumers += each.wait() == 0 ? 0 : 1;
  });
  if (dashboard_.pid()) {
    dashboard_.signal(SIGTERM);
    dashboard_.wait();
  }
}

awaitable<void> director::run() {
  co_await set_up();
  co_await make_trouble();
  co_await settle();
  auto results = co_await read_results(session_);
  summary_.terms = observer_.terms();
  complete(summary_.terms, results);
  summary_.counts = check(results, how_.messages);
  summary_.counts.overlapping_phases = count_overlaps(read_phases(phases_.path));
  summary_.saw_hand_over = observer_.saw_hand_over();
  summary_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  co_await session_.async_close(use_awaitable);
}

}  // namespace

int direct(const direction& how) {
  asio::io_context io;
  director stage(io, how);
  int status = 0;
  asio::signal_set stop(io, SIGINT, SIGTERM);
  stop.async_wait([&](zkrecipes::error_code error, int number) {
    if (error) return;
    status = 128 + number;
    io.stop();
  });
  asio::co_spawn(io, stage.run(), [&](std::exception_ptr failure) {
    stop.cancel();
    if (failure) {
      status = 1;
      try {
        std::rethrow_exception(failure);
      } catch (const std::exception& error) {
        std::cerr << "demo: " << error.what() << '\n';
      }
      io.stop();
    }
  });
  io.run();
  if (status) return status;
  std::cout << (how.json ? to_json(stage.outcome()) + '\n' : to_text(stage.outcome())) << std::flush;
  return stage.outcome().success() ? 0 : 1;
}

}  // namespace demo
