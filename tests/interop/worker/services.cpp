#include <algorithm>
#include <istream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/service_discovery.hpp>

#include "worker/player.hpp"

namespace interop {

using boost::asio::awaitable;
using boost::asio::use_awaitable;

namespace {

class services final : public player {
 public:
  explicit services(zkrecipes::service_discovery all) : all_(std::move(all)) {}

  awaitable<std::string> obey(std::string command, std::istream& words) override {
    if (command == "register") {
      co_await enroll(words);
    } else if (command == "instances") {
      std::string name;
      words >> name;
      co_return co_await instances(name);
    } else if (command == "unregister") {
      co_await registered_.async_unregister(use_awaitable);
    } else {
      throw std::invalid_argument("no such command: " + command);
    }
    co_return "";
  }

 private:
  awaitable<void> enroll(std::istream& words) {
    zkrecipes::service_instance instance;
    std::int32_t port = 0;
    words >> instance.name >> instance.id >> instance.address >> port >> instance.payload;
    instance.port = port;
    instance.payload = '"' + instance.payload + '"';
    registered_ = co_await all_.async_register(instance, use_awaitable);
  }

  awaitable<std::string> instances(std::string name) {
    auto view = all_.watch(name);
    auto seen = co_await view.async_current(use_awaitable);
    std::vector<std::string> found;
    for (const auto& each : seen.instances) {
      found.push_back(' ' + each.id + '=' + each.address + ':' + std::to_string(each.port.value_or(0)) + '/' +
                      each.payload.substr(1, each.payload.size() - 2));
    }
    for (const auto& each : seen.broken) found.push_back(" broken:" + each.node);
    std::sort(found.begin(), found.end());
    std::string text;
    for (const auto& each : found) text += each;
    co_return text;
  }

  zkrecipes::service_discovery all_;
  zkrecipes::service_registration registered_;
};

}  // namespace

std::unique_ptr<player> play_discovery(zkrecipes::session zk, const std::string& path) {
  return std::make_unique<services>(zkrecipes::service_discovery(zk, path));
}

}  // namespace interop
