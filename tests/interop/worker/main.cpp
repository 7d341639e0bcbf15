// Takes part in a recipe beside Java's and Python's workers, which understand the same commands: a line each
// on standard input, answered by a line, "ok ..." or what went wrong.
//
//   open HOSTS KIND PATH WITNESS NAME    a session, to take turns at PATH as NAME
//   enter | leave                        one turn, seen by the witness
//   until N                              turns until the witness has counted N hand-offs
//   put DATA | take                      of a queue: an item; "ok DATA", or "ok" if there is none
//   claim | acknowledge                  a take in its two parts; only here
//   close                                the session
//
// It ends when standard input does.
#include "worker/turn.hpp"
#include "worker/witness.hpp"

#include <zkrecipes/queue.hpp>

#include <boost/asio.hpp>

#include <unistd.h>

#include <iostream>
#include <optional>
#include <sstream>

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

namespace interop {
namespace {

class worker {
 public:
  awaitable<std::string> obey(const std::string& line) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "open")
      co_await open(words);
    else if (command == "enter")
      co_await enter();
    else if (command == "leave")
      co_await leave();
    else if (command == "until")
      co_await take_turns(words);
    else if (command == "put")
      co_await put(words);
    else if (command == "take")
      co_return co_await take();
    else if (command == "claim")
      co_return co_await claim();
    else if (command == "acknowledge")
      co_await acknowledge();
    else if (command == "close")
      co_await close();
    else
      throw std::invalid_argument("no such command: " + line);
    co_return "ok";
  }

 private:
  awaitable<void> open(std::istream& words) {
    std::string hosts, kind, path, witnessed, name;
    words >> hosts >> kind >> path >> witnessed >> name;
    auto ex = co_await asio::this_coro::executor;
    zkrecipes::session_options options{.hosts = hosts};
    zk_.emplace(ex, options);
    co_await zk_->async_connected(use_awaitable);
    if (kind == "queue") {
      queue_.emplace(*zk_, path);
    } else {
      turn_ = make_turn(kind, *zk_, path, name);
      witness_.emplace(*zk_, witnessed, name, kind == "read");
    }
  }

  awaitable<void> enter() {
    co_await turn_->acquire();
    co_await witness_->enter();
  }

  awaitable<void> leave() {
    co_await witness_->leave();
    co_await turn_->release();
  }

  awaitable<void> take_turns(std::istream& words) {
    std::int64_t hand_offs = 0;
    words >> hand_offs;
    do {
      co_await enter();
      co_await leave();
    } while (witness_->hand_offs() < hand_offs);
  }

  awaitable<void> put(std::istream& words) {
    std::string data;
    words >> data;
    co_await queue_->async_put(data, use_awaitable);
  }

  awaitable<std::string> take() {
    const auto size = co_await queue_->async_size(use_awaitable);
    if (size == 0) co_return "ok ";
    auto answer = co_await claim();
    co_await acknowledge();
    co_return answer;
  }

  awaitable<std::string> claim() {
    claimed_ = co_await queue_->async_take(use_awaitable);
    co_return "ok " + claimed_.data;
  }

  awaitable<void> acknowledge() { co_await queue_->async_acknowledge(claimed_, use_awaitable); }

  awaitable<void> close() {
    turn_.reset();
    witness_.reset();
    queue_.reset();
    co_await zk_->async_close(use_awaitable);
    zk_.reset();
  }

  std::optional<zkrecipes::session> zk_;
  std::unique_ptr<turn> turn_;
  std::optional<witness> witness_;
  std::optional<zkrecipes::queue> queue_;
  zkrecipes::message claimed_;
};

awaitable<void> serve(asio::posix::stream_descriptor commands) {
  worker self;
  std::string input;
  for (;;) {
    auto got = co_await asio::async_read_until(commands, asio::dynamic_buffer(input), '\n',
                                               asio::as_tuple(use_awaitable));
    const auto& [ended, length] = got;
    if (ended) co_return;
    const std::string line = input.substr(0, length - 1);
    input.erase(0, length);
    std::string answer;
    try {
      answer = co_await self.obey(line);
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
