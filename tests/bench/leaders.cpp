// How long an election has no leader after the leader's process was killed, and how many threads a leader's session
// adds.
#include "leaders.hpp"

#include <iostream>

#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>

#include "asynchronous.hpp"
#include "crowd.hpp"
#include "parts.hpp"
#include "peers.hpp"

namespace bench {

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
