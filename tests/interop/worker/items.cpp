#include "worker/player.hpp"

#include <zkrecipes/queue.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <istream>
#include <stdexcept>
#include <utility>

namespace interop {

using boost::asio::as_tuple;
using boost::asio::awaitable;
using boost::asio::use_awaitable;

namespace {

class items final : public player {
 public:
  explicit items(zkrecipes::queue queue) : queue_(std::move(queue)) {}

  awaitable<std::string> obey(std::string command, std::istream& words) override {
    if (command == "put") {
      std::string data;
      words >> data;
      co_await queue_.async_put(data, use_awaitable);
    } else if (command == "take") {
      int count = 0;
      words >> count;
      co_return co_await take(count);
    } else if (command == "claim") {
      claimed_ = co_await queue_.async_take(use_awaitable);
      co_return " " + claimed_.data;
    } else if (command == "acknowledge") {
      co_await queue_.async_acknowledge(claimed_, use_awaitable);
    } else {
      throw std::invalid_argument("no such command: " + command);
    }
    co_return "";
  }

 private:
  awaitable<std::string> take(int count) {
    std::string all;
    for (int i = 0; i < count;) {
      auto item = co_await queue_.async_take(use_awaitable);
      auto done = co_await queue_.async_acknowledge(item, as_tuple(use_awaitable));
      const auto& error = std::get<0>(done);
      if (error == zkrecipes::errc::superseded) continue;  // somebody who does not see claims was quicker
      if (error) throw boost::system::system_error(error, "acknowledge");
      all += ' ' + item.data;
      ++i;
    }
    co_return all;
  }

  zkrecipes::queue queue_;
  zkrecipes::message claimed_;
};

}  // namespace

std::unique_ptr<player> play_queue(zkrecipes::session zk, const std::string& path) {
  return std::make_unique<items>(zkrecipes::queue(zk, path));
}

}  // namespace interop
