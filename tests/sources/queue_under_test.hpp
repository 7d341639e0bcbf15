// A queue in ZooKeeper, for the cases that every source passes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <zkrecipes/queue.hpp>

#include "ensemble/delivery_case.hpp"

namespace zkrecipes::test {

class queue_under_test {
 public:
  /// A queue knows no keys: that of a message is its first letter.
  static void adapt(queue_consumer_options& options) {
    options.key = [](const message& what) { return what.data.substr(0, 1); };
  }
  void put(ensemble_case& by, const std::string& data) {
    auto result = by.run(queue(by.zk(), "/q").async_put(data, tuple));
    if (std::get<0>(result)) throw boost::system::system_error(std::get<0>(result));
  }
  std::unique_ptr<acting_consumer> consumer(session over, queue_consumer_options options, processor does) {
    return std::make_unique<acting_consumer>(queue(std::move(over), "/q"), std::move(options), career_traits(),
                                             std::move(does));
  }
  static std::string letters() { return "/q/_dead"; }
  static std::string root() { return "/q"; }
};

}  // namespace zkrecipes::test
