// The worker of one shard, which is counted.
#pragma once

#include <memory>
#include <utility>

#include "consumer_totals.hpp"
#include "worker.hpp"

namespace service {

class shard_worker : public worker {
 public:
  shard_worker(const zkrecipes::message_feed& from, zkrecipes::queue_consumer_options options, work_settings settings,
               std::shared_ptr<consumer_totals> totals)
      : worker(from, std::move(options), std::move(settings)), totals_(std::move(totals)) {
    totals_->begin(this);
  }
  ~shard_worker() override { totals_->end(this); }

 private:
  std::shared_ptr<consumer_totals> totals_;
};

}  // namespace service
