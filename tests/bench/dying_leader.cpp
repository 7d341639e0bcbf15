#include "dying_leader.hpp"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "asynchronous.hpp"

namespace bench {

namespace {

constexpr std::size_t mib = 1 << 20;

/// Leads until the process dies. The deadline of its hand-over is long, so that nobody takes over by it.
class endless_career final : public zkrecipes::leader_career {
 public:
  explicit endless_career(std::function<void()> leads) : leads_(std::move(leads)) {}
  zkrecipes::career_traits traits() const override { return {.hand_over_deadline = 60s}; }
  awaitable<void> inaugurate(zkrecipes::term) override { co_return; }
  awaitable<void> execute(zkrecipes::term present) override {
    leads_();
    co_await present.async_ending(asio::as_tuple(asio::use_awaitable));
  }
  awaitable<void> hand_over(zkrecipes::term, zkrecipes::term_end) override { co_return; }

 private:
  std::function<void()> leads_;
};

void enter(const std::string& control_group) {
  if (control_group.empty()) return;
  std::ofstream(control_group + "/cgroup.procs") << ::getpid() << std::flush;
}

/// Writes to each page, so that it takes memory.
std::vector<char> take_memory(std::size_t size) {
  std::vector<char> taken(size);
  for (std::size_t i = 0; i < size; i += 4096) taken[i] = 1;
  return taken;
}

void allow_core(bool allowed) {
  rlimit limit{};
  ::getrlimit(RLIMIT_CORE, &limit);
  limit.rlim_cur = allowed ? limit.rlim_max : 0;
  ::setrlimit(RLIMIT_CORE, &limit);
}

void die(const std::string& how) {
  allow_core(how == "segv");
  if (how == "exit") ::_exit(1);
  if (how == "segv") ::raise(SIGSEGV);
  if (how == "oom") {
    std::vector<std::vector<char>> all;
    for (;;) all.push_back(take_memory(64 * mib));
  }
  std::abort();
}

awaitable<void> die_when_told() {
  asio::posix::stream_descriptor input(co_await asio::this_coro::executor, ::dup(STDIN_FILENO));
  std::string line;
  co_await asio::async_read_until(input, asio::dynamic_buffer(line), '\n', asio::use_awaitable);
  die(line.substr(0, line.size() - 1));
}

}  // namespace

void lead_and_die(const dying_leader& how) {
  enter(how.control_group);
  const auto memory = take_memory(how.resident_mib * mib);
  asio::io_context io;
  bool leads = false, is_guarded = false;
  const auto report = [&] {
    if (leads && is_guarded) std::cout << "leads" << std::endl;
  };
  zkrecipes::session_options options{.hosts = how.hosts, .timeout = 10s, .guardian = how.guardian};
  options.log = [&](const zkrecipes::log_event& each) {
    if (each.event != zkrecipes::session_event::guarded) return;
    is_guarded = true;
    report();
  };
  zkrecipes::session zk(io, options);
  endless_career career([&] {
    leads = true;
    report();
  });
  zkrecipes::consumer_coordinator coordinator(zk, how.path, {.id = "dying"});
  coordinator.async_run(career, [](zkrecipes::error_code) {});
  asio::co_spawn(io, die_when_told(), [](std::exception_ptr) { ::_exit(2); });
  io.run();
}

}  // namespace bench
