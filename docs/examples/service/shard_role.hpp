// Each replica consumes its share of the shards of a topic.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "configuration.hpp"
#include "consumer_totals.hpp"
#include "role.hpp"
#include "worker.hpp"

namespace service {

class shard_role : public role {
 public:
  shard_role(const zkrecipes::topic& from, const configuration& settings, work_settings work);

  boost::asio::awaitable<zkrecipes::error_code> run() override;
  void stop() override { group_.stop(); }
  std::string describe() const override { return group_.status().member.empty() ? "starting" : "member"; }
  void add_to(metrics_page& page) const override;

 private:
  const zkrecipes::topic topic_;
  const std::string name_;  ///< The group of consumers.
  const zkrecipes::queue_consumer_options options_;
  const work_settings work_;
  const std::shared_ptr<consumer_totals> totals_ = std::make_shared<consumer_totals>();
  zkrecipes::shard_group group_;
};

}  // namespace service
