// A queue of RabbitMQ, for the cases that every source passes.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include <testcluster/rabbit_broker.hpp>

#include "ensemble/delivery_case.hpp"
#include "rabbit/rabbit_client.hpp"

namespace zkrecipes::test {

/// Each object has a queue of its own, and removes that of the object before it.
class rabbit_under_test {
 public:
  rabbit_under_test() {
    static int objects = 0;
    prefix_ = "orders-" + std::to_string(++objects);
    rabbit_client to(broker().address());
    if (objects > 1) to.remove("orders-" + std::to_string(objects - 1) + ":0");
    to.declare(prefix_ + ":0");
  }

  static void adapt(queue_consumer_options&) {}
  void put(ensemble_case&, const std::string& data) {
    if (!client_) client_ = std::make_unique<rabbit_client>(broker().address());
    client_->put({.queue = prefix_ + ":0", .data = data, .id = "id " + data.substr(0, 200), .key = data.substr(0, 1)});
  }
  std::unique_ptr<acting_consumer> consumer(session by, queue_consumer_options options, processor does) {
    rabbit_options where;
    where.hosts = broker().address();
    where.queue = prefix_;
    return std::make_unique<acting_consumer>(rabbit_queues(std::move(by), "/q", where).feed(0), std::move(options),
                                             career_traits(), std::move(does));
  }
  static std::string letters() { return "/q/_dead/consumers"; }
  static std::string root() { return "/q"; }

 private:
  static testcluster::rabbit_broker& broker() {
    static testcluster::rabbit_broker one;
    return one;
  }

  std::string prefix_;
  std::unique_ptr<rabbit_client> client_;
};

}  // namespace zkrecipes::test
