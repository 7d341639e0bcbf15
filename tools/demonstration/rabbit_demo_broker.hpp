#pragma once

#include <testcluster/rabbit_broker.hpp>

#include "demo_broker.hpp"

namespace demo {

/// A cluster of RabbitMQ. Its nodes are killed in turn.
class rabbit_demo_broker : public demo_broker {
 public:
  rabbit_demo_broker(int nodes, std::chrono::milliseconds start_timeout)
      : broker_({.nodes = nodes, .start_timeout = start_timeout}) {}

  std::string name() const override { return "RabbitMQ"; }
  std::string address() const override { return broker_.addresses(); }
  int nodes() const noexcept override { return broker_.nodes(); }
  std::string kill_next() override {
    killed_ = killed_ % broker_.nodes() + 1;
    broker_.kill(killed_);
    return "node " + std::to_string(killed_) + " of the broker";
  }
  /// A node answers when its members of the queues run again.
  void restore() override { broker_.start(killed_); }

 private:
  testcluster::rabbit_broker broker_;
  int killed_ = 0;
};

}  // namespace demo
