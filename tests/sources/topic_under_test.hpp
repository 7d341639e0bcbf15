// A shard of a topic, for the cases that every source passes.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>

#include "ensemble/delivery_case.hpp"

namespace zkrecipes::test {

class topic_under_test {
 public:
  static void adapt(queue_consumer_options&) {}
  void put(ensemble_case& by, const std::string& data) {
    if (!producer_) producer_ = std::make_unique<topic_producer>(over(by.zk()), "p");
    auto result = by.run(producer_->async_put(data.substr(0, 1), data, tuple));
    if (std::get<0>(result)) throw boost::system::system_error(std::get<0>(result));
  }
  std::unique_ptr<acting_consumer> consumer(session by, queue_consumer_options options, processor does) {
    return std::make_unique<acting_consumer>(over(std::move(by)).feed(0, "g"), std::move(options), career_traits(),
                                             std::move(does));
  }
  static std::string letters() { return "/q/_dead/g"; }
  static std::string root() { return "/q"; }

 private:
  static topic over(session which) {
    topic_options how;
    how.shards = 1;
    return topic(std::move(which), "/q", how);
  }

  std::unique_ptr<topic_producer> producer_;
};

}  // namespace zkrecipes::test
