// The incidents of the surroundings: nobody helps by hand, and all work has to go on.
#include <algorithm>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <utility>

#include "shard_director.hpp"

namespace demo {

namespace asio = boost::asio;
using asio::awaitable;
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
