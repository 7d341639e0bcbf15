// A log of one's own, for the cases that every source passes.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/consumer/external_source.hpp>

#include "ensemble/delivery_case.hpp"
#include "sources/own_source_case.hpp"

namespace zkrecipes::test {

class own_log_under_test {
 public:
  static void adapt(queue_consumer_options&) {}
  /// Each tenth message comes behind a connection that was lost.
  void put(ensemble_case&, const std::string& data) {
    if (kept_->all.size() % 10 == 9) kept_->faults.errors["receive"].push_back(asio::error::connection_reset);
    kept_->put(data.substr(0, 1), data);
  }
  std::unique_ptr<acting_consumer> consumer(session by, queue_consumer_options options, processor does) {
    external_options how;
    how.source = "memory";
    how.retry = {.first_pause = 1ms, .max_pause = 5ms};
    const auto from = std::make_shared<own_log>(kept_);
    return std::make_unique<acting_consumer>(external_source(std::move(by), "/q", how).feed(from, 0, "g"),
                                             std::move(options), career_traits(), std::move(does));
  }
  static std::string letters() { return "/q/_dead/g"; }
  static std::string root() { return "/q"; }

 private:
  own_log::kept kept_ = std::make_shared<log_in_memory>();
};

}  // namespace zkrecipes::test
