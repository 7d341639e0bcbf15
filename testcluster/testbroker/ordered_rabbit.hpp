#pragma once

#include <testcluster/rabbit_broker.hpp>

#include "ordered_broker.hpp"

namespace testcluster::command {

/// A RabbitMQ cluster that takes orders.
class ordered_rabbit final : public ordered_broker {
 public:
  static constexpr const char* orders = "kill N, stop N, start [N], restart N, pause N, resume N, leader QUEUE, status";

  explicit ordered_rabbit(const rabbit_broker_options& options) : broker_(options) {}
  std::string carry_out(const std::string& order) override;
  std::string state() override;

 private:
  void start(const std::string& which);
  std::string leader_of(const std::string& queue);
  int node(const std::string& which) const;

  rabbit_broker broker_;
};

}  // namespace testcluster::command
