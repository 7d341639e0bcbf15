#include "crowd.hpp"

#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include <unistd.h>

#include <boost/json.hpp>

#include "asynchronous.hpp"
#include "parts.hpp"
#include "peers.hpp"
#include "support/process.hpp"

namespace bench {

// The cost of many acquisitions that wait for one lock: for the servers at each release, and for the process in which
// they wait.

namespace json = boost::json;

namespace {

constexpr int releases = 50;

/// The cost of each release since `before`.
traffic since(const traffic& before) {
  const auto now = count_traffic();
  return {(now.watch_events - before.watch_events) / releases, (now.requests - before.requests) / releases};
}

traffic crowd_of_ours(const std::string& hosts, int size) {
  asio::io_context io;
  traffic cost;
  auto body = [&]() -> awaitable<bool> {
    auto ex = co_await asio::this_coro::executor;
    const zkrecipes::session_options options{.hosts = hosts};
    zkrecipes::session zk(ex, options);
    co_await zk.async_ensure_path("/crowd", use_awaitable);
    crowd all(zk, "/crowd");
    co_await all.gather(static_cast<std::size_t>(size));
    const auto before = count_traffic();
    co_await all.hand_on(releases);
    cost = since(before);
    co_await zk.async_close(use_awaitable);
    co_return true;
  };
  run_coroutine(io, body(), std::chrono::minutes(2));
  return cost;
}

std::optional<traffic> crowd_of(const std::string& name, const plan& what, const std::string& hosts) {
  if (what.peers.empty()) return std::nullopt;
  peer program(what.peers, name, "wake-ups", hosts, {"--waiting", std::to_string(what.waiting)});
  program.line();  // ready
  const auto before = count_traffic();
  program.tell(std::to_string(releases));
  program.line();  // done
  const auto cost = since(before);
  program.tell("");
  program.figures();  // it has removed its nodes
  return cost;
}

json::value cell(const std::optional<traffic>& cost, double traffic::*which) {
  return cost ? json::value(*cost.*which) : json::value();
}

}  // namespace

std::vector<row> wake_ups(const plan& what) {
  const std::string hosts = join_hosts(direct_hosts());
  const auto ours = crowd_of_ours(hosts, what.waiting);
  const auto curator = crowd_of("curator", what, hosts);
  const auto kazoo = crowd_of("kazoo", what, hosts);
  const std::string unit = "per release, " + std::to_string(what.waiting) + " waiting";
  return {{"watch events", unit, ours.watch_events, cell(curator, &traffic::watch_events),
           cell(kazoo, &traffic::watch_events)},
          {"requests", unit, ours.requests, cell(curator, &traffic::requests), cell(kazoo, &traffic::requests)}};
}

std::vector<row> waiting(const plan& what) {
  // Measured in a separate process, because this one has proxies with threads.
  line_process alone("waiting", {what.self, "--wait-in-line", std::to_string(what.many_waiting), "--hosts",
                                 join_hosts(direct_hosts())});
  std::optional<std::string> said;
  wait_until([&] { return (said = alone.answer()).has_value(); }, std::chrono::minutes(2));
  if (!said) throw std::runtime_error("waiting in line takes too long");
  const auto taken = json::parse(*said).as_object();
  const std::string unit = "one process, " + std::to_string(what.many_waiting) + " waiting";
  return {{"memory taken, MiB", unit, taken.at("mebibytes"), nullptr, nullptr},
          {"memory of the whole process, MiB", unit, taken.at("whole"), nullptr, nullptr},
          {"threads", unit, taken.at("threads"), nullptr, nullptr}};
}

long status_of(const std::string& field, const std::string& process) {
  std::ifstream status("/proc/" + process + "/status");
  std::string name;
  long value = 0;
  while (status >> name) {
    if (name == field + ':' && status >> value) return value;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  throw std::runtime_error("no " + field + " in the status of process " + process);
}

double processor_time_of(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  stat.ignore(std::numeric_limits<std::streamsize>::max(), ')');  // the name may hold anything
  std::string skipped;
  for (int field = 3; field < 14; ++field) stat >> skipped;
  double user = 0;
  double kernel = 0;
  if (!(stat >> user >> kernel)) throw std::runtime_error("no processor time of process " + std::to_string(process));
  return (user + kernel) * 1000 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

traffic count_traffic() {
  traffic sum;
  for (int id = 1; id <= server_count; ++id) {
    std::istringstream answer(ask(id, "mntr"));
    std::string line;
    while (std::getline(answer, line)) {
      const auto tab = line.find('\t');
      const auto name = line.substr(0, tab);
      if (name == "zk_packets_received") sum.requests += std::stod(line.substr(tab));
      if (name.starts_with("zk_sum_node_") && name.ends_with("_watch_count")) {
        sum.watch_events += std::stod(line.substr(tab));
      }
    }
  }
  return sum;
}

void crowd::join() {
  zkrecipes::lock lock(zk_, path_);
  lock.async_acquire(
      asio::bind_executor(zk_.get_executor(), [this](const zkrecipes::error_code& error, zkrecipes::ownership owner) {
        if (error == zkrecipes::errc::closed) return;
        if (error) throw boost::system::system_error(error, "crowd");
        owners_.push_back(std::move(owner));
      }));
}

awaitable<void> crowd::gather(std::size_t waiting) {
  for (std::size_t i = 0; i <= waiting; ++i) join();
  co_await await_owners(1);
  std::int64_t seen = 0;
  for (;;) {
    auto all = co_await zk_.async_children_change(path_, seen, use_awaitable);
    if (all.names.size() == waiting + 1) break;
    seen = all.stat.pzxid;
  }
  // The sync is answered after each waiter's look at its predecessor.
  co_await zk_.async_sync(use_awaitable);
}

awaitable<void> crowd::hand_on(std::size_t times) {
  for (std::size_t i = 0; i < times; ++i) {
    const auto count = owners_.size();
    co_await owners_.back().async_release(use_awaitable);
    co_await await_owners(count + 1);
  }
}

awaitable<void> crowd::await_owners(std::size_t count) {
  asio::steady_timer pause(zk_.get_executor());
  while (owners_.size() < count) {
    pause.expires_after(1ms);
    co_await pause.async_wait(use_awaitable);
  }
}

namespace {

awaitable<json::object> wait_in_line(zkrecipes::session_options by, std::size_t waiting) {
  auto ex = co_await asio::this_coro::executor;
  zkrecipes::session zk(ex, by);
  co_await zk.async_ensure_path("/crowd", use_awaitable);
  crowd all(zk, "/crowd");
  const long before = status_of("VmRSS");
  co_await all.gather(waiting);
  json::object result{{"threads", status_of("Threads")},
                      {"mebibytes", (status_of("VmHWM") - before) / 1024.0},
                      {"whole", status_of("VmHWM") / 1024.0}};
  co_await zk.async_close(use_awaitable);
  co_return result;
}

}  // namespace

std::string measure_waiting(const zkrecipes::session_options& by, std::size_t waiting) {
  asio::io_context io;
  json::object result;
  asio::co_spawn(io, wait_in_line(by, waiting), [&](std::exception_ptr failure, json::object measured) {
    if (failure) std::rethrow_exception(failure);
    result = std::move(measured);
  });
  io.run();
  return json::serialize(result);
}

}  // namespace bench
