// A process that leads an election under a guardian, for the tests in guarded_leader.cpp.
#include <iostream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/detached.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>

#include "support/coroutine.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// Each line is written at once, because the process can be killed at any moment.
void say(const std::string& line) { std::cout << line << std::endl; }

class guarded_career final : public leader_career {
 public:
  explicit guarded_career(std::chrono::milliseconds deadline) : deadline_(deadline) {}

  career_traits traits() const override { return {.hand_over_deadline = deadline_}; }
  asio::awaitable<void> inaugurate(term) override { co_return; }
  asio::awaitable<void> execute(term present) override {
    say("leads");
    co_await present.async_ending(tuple);
  }
  asio::awaitable<void> hand_over(term, term_end) override { co_return; }

 private:
  std::chrono::milliseconds deadline_;
};

/// The end of the input is the end of the parent.
asio::awaitable<void> obey(consumer_coordinator& which, session zk) {
  asio::posix::stream_descriptor commands(co_await asio::this_coro::executor, ::dup(STDIN_FILENO));
  char none = 0;
  co_await asio::async_read(commands, asio::buffer(&none, 1), tuple);
  which.stop();
  co_await zk.async_close(tuple);
}

}  // namespace

int main(int argc, char** argv) {
  const rlimit no_core{};
  if (argc != 5 || ::setrlimit(RLIMIT_CORE, &no_core) != 0) {
    std::cerr << "usage: guarded_process HOSTS ROOT GUARDIAN HAND_OVER_DEADLINE_MS\n";
    return 2;
  }
  session_options where;
  where.hosts = argv[1];
  where.root = argv[2];
  where.guardian = argv[3];
  where.timeout = 5s;  // the longest that the ensemble grants
  where.log = [](const log_event& each) {
    if (each.event == session_event::guarded) say("guarded");
  };
  asio::io_context io;
  session zk(io, where);
  guarded_career does(std::chrono::milliseconds(std::stoi(argv[4])));
  consumer_coordinator coordinator(zk, "/e", {.id = "guarded"});
  say("pid " + std::to_string(::getpid()));
  coordinator.async_run(does, [](error_code) {});
  asio::co_spawn(io, obey(coordinator, zk), asio::detached);
  io.run();
}
