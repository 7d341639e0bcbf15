#pragma once

#include <testcluster/redis_broker.hpp>

#include "ordered_broker.hpp"

namespace testcluster::command {

/// A Redis server that takes orders.
class ordered_redis final : public ordered_broker {
 public:
  static constexpr const char* orders = "kill, start, restart, pause, resume, status";

  explicit ordered_redis(const redis_broker_options& options) : broker_(options) {}
  std::string carry_out(const std::string& order) override;
  std::string state() override;

 private:
  redis_broker broker_;
};

}  // namespace testcluster::command
