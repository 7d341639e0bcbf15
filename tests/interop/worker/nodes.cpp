#include <istream>
#include <stdexcept>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/barrier.hpp>
#include <zkrecipes/counter.hpp>
#include <zkrecipes/membership.hpp>

#include "worker/player.hpp"

namespace interop {

using boost::asio::awaitable;
using boost::asio::use_awaitable;

namespace {

class nodes final : public player {
 public:
  nodes(const zkrecipes::session& zk, const std::string& path)
      : gate_(zk, path + "/gate"), sum_(zk, path + "/sum"), group_(zk, path + "/group") {}

  awaitable<std::string> obey(std::string command, std::istream& words) override {
    if (command == "raise") {
      co_await gate_.async_raise(use_awaitable);
    } else if (command == "lift") {
      co_await gate_.async_lift(use_awaitable);
    } else if (command == "pass") {
      co_await gate_.async_wait(use_awaitable);
    } else if (command == "add") {
      std::int64_t number = 0;
      int times = 0;
      words >> number >> times;
      for (int i = 0; i < times; ++i) co_await sum_.async_add(number, use_awaitable);
    } else if (command == "join") {
      std::string name, data;
      words >> name >> data;
      self_ = co_await group_.async_join(name, data, use_awaitable);
    } else if (command == "leave-group") {
      co_await self_.async_leave(use_awaitable);
    } else if (command == "members") {
      co_return co_await members();
    } else {
      throw std::invalid_argument("no such command: " + command);
    }
    co_return "";
  }

 private:
  awaitable<std::string> members() {
    auto view = group_.watch();
    auto seen = co_await view.async_current(use_awaitable);
    std::string all;
    for (const auto& each : seen.nodes) all += ' ' + each->name + '=' + each->data;
    co_return all;
  }

  zkrecipes::barrier gate_;
  zkrecipes::counter sum_;
  zkrecipes::membership group_;
  zkrecipes::joined_member self_;
};

}  // namespace

std::unique_ptr<player> play_nodes(zkrecipes::session zk, const std::string& path) {
  return std::make_unique<nodes>(zk, path);
}

}  // namespace interop
