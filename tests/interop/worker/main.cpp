// Takes part in a recipe beside the Java and Python workers, which understand the same commands. Each command is a line
// on standard input; the answer is a line, "ok ..." or the error.
//
//   secure AUTHORITY CERTIFICATE KEY BOTH    from now on sessions connect by TLS; these are files, BOTH is key and
//                                        certificate
//   open HOSTS KIND PATH WITNESS NAME    opens a session, to take part as NAME in the recipe at PATH
//   close                                ends the session
//
// Recipes with turns:
//   enter | leave                        one turn, seen by the witness
//   until N                              turns until the witness has counted N hand-offs
// Queues:
//   put DATA [PRIORITY] | take COUNT     items; "ok DATA..."; the priority is for a priority-queue
//   pop COUNT                            a take at most once; only here
//   claim | acknowledge                  a take in two parts; only here
//   catch-up                             lets its server learn what others have done; only here
// Nodes: a barrier (all), a counter (Python and C++), a group (Java and C++)
//   raise | lift | pass                  "pass" waits until the barrier is lifted
//   add NUMBER TIMES
//   join NAME DATA | leave-group | members
// Service discovery (Java and C++):
//   register SERVICE ID ADDRESS PORT PAYLOAD | unregister
//   instances SERVICE                    "ok ID=ADDRESS:PORT/PAYLOAD ..." in order
//
// The worker ends when standard input does.
#include <iostream>
#include <optional>
#include <sstream>

#include <unistd.h>

#include <boost/asio.hpp>

#include "worker/player.hpp"

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

namespace interop {
namespace {

class worker {
 public:
  awaitable<std::string> obey(std::string line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "secure") {
      auto& tls = tls_.emplace();
      words >> tls.authorities >> tls.certificate >> tls.key;
    } else if (command == "open") {
      co_await open(words);
    } else if (command == "close") {
      co_await close();
    } else if (!player_) {
      throw std::invalid_argument("nothing is open");
    } else {
      co_return co_await player_->obey(command, words);
    }
    co_return "";
  }

 private:
  awaitable<void> open(std::istream& words) {
    std::string hosts, kind, path, witnessed, name;
    words >> hosts >> kind >> path >> witnessed >> name;
    auto ex = co_await asio::this_coro::executor;
    zkrecipes::session_options options{.hosts = hosts, .tls = tls_};
    zk_.emplace(ex, options);
    co_await zk_->async_connected(use_awaitable);
    if (kind == "queue") {
      player_ = play_queue(*zk_, path);
    } else if (kind == "priority-queue") {
      player_ = play_priority_queue(*zk_, path);
    } else if (kind == "nodes") {
      player_ = play_nodes(*zk_, path);
    } else if (kind == "discovery") {
      player_ = play_discovery(*zk_, path);
    } else {
      player_ = play_turns(kind, *zk_, path, witnessed, name);
    }
  }

  awaitable<void> close() {
    player_.reset();
    co_await zk_->async_close(use_awaitable);
    zk_.reset();
  }

  std::optional<zkrecipes::tls_options> tls_;
  std::optional<zkrecipes::session> zk_;
  std::unique_ptr<player> player_;
};

awaitable<void> serve(asio::posix::stream_descriptor commands) {
  worker self;
  std::string input;
  for (;;) {
    auto got =
        co_await asio::async_read_until(commands, asio::dynamic_buffer(input), '\n', asio::as_tuple(use_awaitable));
    const auto& [ended, length] = got;
    if (ended) co_return;
    const std::string line = input.substr(0, length - 1);
    input.erase(0, length);
    std::string answer;
    try {
      answer = co_await self.obey(line);
      answer.insert(0, "ok");
    } catch (const std::exception& failure) {
      answer = failure.what();
    }
    std::cout << answer << std::endl;
  }
}

}  // namespace
}  // namespace interop

int main() {
  asio::io_context io;
  asio::posix::stream_descriptor commands(io, ::dup(STDIN_FILENO));
  asio::co_spawn(io, interop::serve(std::move(commands)), [&](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
    io.stop();
  });
  io.run();
}
