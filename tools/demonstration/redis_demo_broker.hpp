#pragma once

#include <testcluster/redis_broker.hpp>

#include "demo_broker.hpp"

namespace demo {

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

}  // namespace demo
