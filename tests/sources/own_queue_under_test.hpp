// A queue of one's own, for the cases that every source passes.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/consumer/external_source.hpp>

#include "ensemble/delivery_case.hpp"
#include "sources/own_source_case.hpp"

namespace zkrecipes::test {

/// It delivers each message twice.
class own_queue_under_test {
 public:
  own_queue_under_test() { kept_->times = 2; }

  static void adapt(queue_consumer_options&) {}
  /// With each tenth message an acknowledgement is lost, and with another one the connection, too.
  void put(ensemble_case&, const std::string& data) {
    if (kept_->put_count % 10 == 4) ++kept_->lost;
    if (kept_->put_count % 10 == 9) kept_->faults.errors["acknowledge"].push_back(asio::error::connection_reset);
    kept_->put(data.substr(0, 1), data);
  }
  std::unique_ptr<acting_consumer> consumer(session by, queue_consumer_options options, processor does) {
    external_options how;
    how.source = "memory";
    how.retry = {.first_pause = 1ms, .max_pause = 5ms};
    const auto from = std::make_shared<own_queue>(kept_);
    return std::make_unique<acting_consumer>(external_source(std::move(by), "/q", how).feed(from, 0),
                                             std::move(options), career_traits(), std::move(does));
  }
  static std::string letters() { return "/q/_dead/consumers"; }
  static std::string root() { return "/q"; }

 private:
  own_queue::kept kept_ = std::make_shared<queue_in_memory>();
};

}  // namespace zkrecipes::test
