// One replica consumes the queue, and the others stand by.
#pragma once

#include <string>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "configuration.hpp"
#include "role.hpp"
#include "worker.hpp"

namespace service {

class single_role : public role {
 public:
  single_role(zkrecipes::session over, const configuration& settings, work_settings work);

  boost::asio::awaitable<zkrecipes::error_code> run() override;
  void stop() override { coordinator_.stop(); }
  std::string describe() const override { return describe(coordinator_.status()); }
  std::string failure() const override;
  void add_to(metrics_page& page) const override;

  /// Whether it leads or stands by, in place of being on its way there.
  static bool takes_part(const zkrecipes::coordinator_status& now);
  static std::string describe(const zkrecipes::coordinator_status& now);

 private:
  worker worker_;
  zkrecipes::consumer_coordinator coordinator_;
};

}  // namespace service
