// How long an election has no leader after the leader's process was killed, and how many threads a leader's session
// adds.
#include "leaders.hpp"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "asynchronous.hpp"
#include "crowd.hpp"
#include "parts.hpp"
#include "peers.hpp"

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

namespace json = boost::json;

namespace {

struct succession {
  double seconds = 0;        // from the kill until the successor leads
  double threads_added = 0;  // threads added to the leader's process
};

awaitable<bool> until_both_stand(std::string hosts, std::string path) {
  auto ex = co_await asio::this_coro::executor;
  zkrecipes::session zk(ex, {.hosts = hosts});
  co_await until_two_stand(zk, path);
  co_await zk.async_close(use_awaitable);
  co_return true;
}

/// `start` runs a program that campaigns at this path, prints how many threads that added when it leads, and ends when
/// it reads a line.
template <class Start>
succession kill_leader(const std::string& hosts, const std::string& path, const Start& start) {
  asio::io_context io;
  succession seen;
  auto leader = start();
  seen.threads_added = std::stod(leader->line());
  auto successor = start();
  run_coroutine(io, until_both_stand(hosts, path), 60s);
  leader.reset();  // SIGKILL
  const auto killed = clock::now();
  successor->line();
  seen.seconds = ms_between(killed, clock::now()) / 1000;
  successor->tell("");
  successor->figures();
  return seen;
}

succession of_ours(const plan& what, const std::string& hosts) {
  const std::string path = "/leaders";
  return kill_leader(hosts, path, [&] {
    return std::make_unique<peer>(
        std::vector{what.self, std::string("--stand-for"), path, std::string("--hosts"), hosts});
  });
}

std::optional<succession> of_peer(const std::string& name, const plan& what, const std::string& hosts) {
  if (what.peers.empty()) return std::nullopt;
  const std::string path = "/leaders-" + name;
  return kill_leader(hosts, path, [&] {
    return std::make_unique<peer>(what.peers, name, "leaders", hosts, std::vector{std::string("--path"), path});
  });
}

json::value cell(const std::optional<succession>& seen, double succession::*which) {
  return seen ? json::value(*seen.*which) : json::value();
}

awaitable<void> stand(std::string hosts, std::string path) {
  auto ex = co_await asio::this_coro::executor;
  const long before = status_of("Threads");
  zkrecipes::session zk(ex, {.hosts = hosts, .timeout = 10s});
  zkrecipes::election election(zk, path, {.id = "candidate"});
  auto leader = co_await election.async_campaign(use_awaitable);
  std::cout << status_of("Threads") - before << std::endl;
  asio::posix::stream_descriptor input(ex, ::dup(STDIN_FILENO));
  std::string line;
  co_await asio::async_read_until(input, asio::dynamic_buffer(line), '\n', use_awaitable);
  co_await leader.async_release(use_awaitable);
  co_await zk.async_remove(path, zkrecipes::any_version, use_awaitable);
  co_await zk.async_close(use_awaitable);
  std::cout << R"({"operations":{}})" << std::endl;
}

}  // namespace

awaitable<void> until_two_stand(zkrecipes::session zk, std::string path) {
  for (std::int64_t seen = 0;;) {
    auto all = co_await zk.async_children_change(path, seen, use_awaitable);
    if (all.names.size() == 2) co_return;
    seen = all.stat.pzxid;
  }
}

void stand_for(const std::string& hosts, const std::string& path) {
  asio::io_context io;
  asio::co_spawn(io, stand(hosts, path), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
}

std::vector<row> leaders(const plan& what) {
  const std::string hosts = join_hosts(direct_hosts());
  const auto ours = of_ours(what, hosts);
  const auto curator = of_peer("curator", what, hosts);
  const auto kazoo = of_peer("kazoo", what, hosts);
  return {{"leader killed until the successor leads", "seconds, session timeout 10 s", ours.seconds,
           cell(curator, &succession::seconds), cell(kazoo, &succession::seconds)},
          {"threads added by a session that leads", "one process", ours.threads_added,
           cell(curator, &succession::threads_added), cell(kazoo, &succession::threads_added)}};
}

}  // namespace bench
