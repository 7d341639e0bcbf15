// A process that calls as often as a shared limiter lets it, for the tests in shared_limiter.cpp.
#include <iostream>
#include <string>

#include <unistd.h>

#include <boost/asio/detached.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>

#include <zkrecipes/consumer/shared_limiter.hpp>

#include "ensemble/rate_plan.hpp"
#include "support/coroutine.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// Each line is written at once, because the process can be killed at any moment.
void say(const std::string& line) { std::cout << line << std::endl; }

class rate_worker {
 public:
  rate_worker(asio::io_context& io, session_options where, const std::string& id)
      : zk_(io, std::move(where)), bank_(zk_, limit_path, limit_options(id)), commands_(io, ::dup(STDIN_FILENO)) {
    say("pid " + std::to_string(::getpid()));
    bank_.async_run([this](error_code error) {
      say("ended " + error.message());
      zk_.async_close([](error_code) {});
    });
    asio::co_spawn(io, call(), asio::detached);
    asio::co_spawn(io, show_share(), asio::detached);
    asio::co_spawn(io, obey(), asio::detached);
  }

 private:
  /// With pauses, in which credit for a burst comes back, until it is told to go on steadily.
  asio::awaitable<void> call() {
    for (int calls = 1;; ++calls) {
      auto [error] = co_await bank_.async_acquire(1, tuple);
      if (error) break;
      say("call " + std::to_string(lease_clock::now().time_since_epoch().count()));
      if (!is_steady_ && calls % 50 == 0) co_await pause(300ms);
    }
  }
  asio::awaitable<void> show_share() {
    while (!is_over_) {
      say("slices " + std::to_string(bank_.status().slices));
      co_await pause(20ms);
    }
  }
  /// The end of the input is the end of the parent.
  asio::awaitable<void> obey() {
    std::string text;
    for (;;) {
      auto [error, size] = co_await asio::async_read_until(commands_, asio::dynamic_buffer(text), '\n', tuple);
      if (error) break;
      if (text.starts_with("steady")) is_steady_ = true;
      if (text.starts_with("drain")) bank_.drain();
      text.erase(0, size);
    }
    is_over_ = true;
    bank_.stop();
  }
  asio::awaitable<void> pause(std::chrono::milliseconds length) {
    asio::steady_timer timer(co_await asio::this_coro::executor, length);
    co_await timer.async_wait(tuple);
  }

  session zk_;
  shared_limiter bank_;
  asio::posix::stream_descriptor commands_;
  bool is_steady_ = false;
  bool is_over_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: rate_worker HOSTS ROOT ID\n";
    return 2;
  }
  session_options where;
  where.hosts = argv[1];
  where.root = argv[2];
  where.timeout = 2s;
  where.log = [id = std::string(argv[3])](const log_event& each) {
    if (each.severity >= log_severity::warning) std::cerr << id << ": " << to_string(each) << std::endl;
  };
  asio::io_context io;
  rate_worker worker(io, where, argv[3]);
  io.run();
}
