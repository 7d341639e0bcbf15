// A Redis stream, for the cases that every source passes.
#pragma once

#include <memory>
#include <string>

#include <zkrecipes/redis/redis_streams.hpp>

#include <testcluster/redis_broker.hpp>

#include "ensemble/delivery_case.hpp"
#include "redis/redis_client.hpp"

namespace zkrecipes::test {

class redis_under_test {
 public:
  redis_under_test() { redis_client(broker().address()).get({"FLUSHALL"}); }

  static void adapt(queue_consumer_options&) {}
  void put(ensemble_case&, const std::string& data) {
    redis_client(broker().address()).add("orders:0", data.substr(0, 1), data);
  }
  std::unique_ptr<acting_consumer> consumer(session by, queue_consumer_options options, processor does) {
    redis_options where;
    where.hosts = broker().address();
    where.stream = "orders";
    where.shards = 1;
    return std::make_unique<acting_consumer>(redis_streams(std::move(by), "/q", where).feed(0, "g"), std::move(options),
                                             career_traits(), std::move(does));
  }
  static std::string letters() { return "/q/_dead/g"; }
  static std::string root() { return "/q"; }

 private:
  static testcluster::redis_broker& broker() {
    static testcluster::redis_broker one;
    return one;
  }
};

}  // namespace zkrecipes::test
