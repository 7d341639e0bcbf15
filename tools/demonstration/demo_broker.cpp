#include "demo_broker.hpp"

#include <algorithm>
#include <chrono>

#include <testcluster/rabbit_broker.hpp>
#include <testcluster/redis_broker.hpp>

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

/// One Redis server, which loses nothing that it has acknowledged.
class redis_demo_broker : public demo_broker {
 public:
  explicit redis_demo_broker(std::chrono::milliseconds start_timeout) : broker_({.start_timeout = start_timeout}) {}

  std::string name() const override { return "Redis"; }
  std::string address() const override { return broker_.address(); }
  int nodes() const noexcept override { return 1; }
  std::string kill_next() override {
    broker_.kill();
    return "the broker";
  }
  void restore() override { broker_.start(); }

 private:
  testcluster::redis_broker broker_;
};

std::unique_ptr<demo_broker> make_broker(const direction& how) {
  using namespace std::chrono_literals;
  const auto found = std::ranges::find_if(how.sources, has_broker);
  if (found == how.sources.end()) return nullptr;
  // It starts beside all processes on a busy machine.
  if (*found == source_kind::redis) return std::make_unique<redis_demo_broker>(2min);
  return std::make_unique<rabbit_demo_broker>(how.broker_nodes, 5min);
}

}  // namespace demo
