#include <istream>
#include <stdexcept>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/priority_queue.hpp>
#include <zkrecipes/queue.hpp>

#include "worker/player.hpp"

namespace interop {

using boost::asio::as_tuple;
using boost::asio::awaitable;
using boost::asio::use_awaitable;

namespace {

awaitable<void> put(zkrecipes::queue& into, std::string data, std::istream&) {
  co_await into.async_put(std::move(data), use_awaitable);
}

awaitable<void> put(zkrecipes::priority_queue& into, std::string data, std::istream& words) {
  zkrecipes::prioritized item{std::move(data)};
  words >> item.priority;
  co_await into.async_put(item.data, item.priority, use_awaitable);
}

template <class Queue>
class items final : public player {
 public:
  items(zkrecipes::session zk, Queue queue) : zk_(std::move(zk)), queue_(std::move(queue)) {}

  awaitable<std::string> obey(std::string command, std::istream& words) override {
    if (command == "put") {
      std::string data;
      words >> data;
      auto putting = put(queue_, std::move(data), words);
      co_await std::move(putting);
    } else if (command == "take" || command == "pop") {
      int count = 0;
      words >> count;
      auto taking = command == "take" ? take(count) : pop(count);
      co_return co_await std::move(taking);
    } else if (command == "catch-up") {
      co_await zk_.async_commit(zkrecipes::transaction().check("/"), use_awaitable);
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
      if (error == zkrecipes::errc::superseded) continue;  // a client that does not see claims was quicker
      if (error) throw boost::system::system_error(error, "acknowledge");
      all += ' ' + item.data;
      ++i;
    }
    co_return all;
  }

  awaitable<std::string> pop(int count) {
    std::string all;
    for (int i = 0; i < count; ++i) {
      auto item = co_await queue_.async_pop(use_awaitable);
      all += ' ' + item.data;
    }
    co_return all;
  }

  zkrecipes::session zk_;
  Queue queue_;
  zkrecipes::message claimed_;
};

}  // namespace

std::unique_ptr<player> play_queue(zkrecipes::session zk, const std::string& path) {
  return std::make_unique<items<zkrecipes::queue>>(zk, zkrecipes::queue(zk, path));
}

std::unique_ptr<player> play_priority_queue(zkrecipes::session zk, const std::string& path) {
  return std::make_unique<items<zkrecipes::priority_queue>>(zk, zkrecipes::priority_queue(zk, path));
}

}  // namespace interop
