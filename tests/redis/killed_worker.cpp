// Consumes a stream until it is killed.
//   redis_killed_worker HOSTS ROOT BROKER
#include "brokers/killed_worker.hpp"

#include <zkrecipes/redis/redis_streams.hpp>

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  zkrecipes::redis_options broker;
  broker.hosts = argv[3];
  broker.stream = "orders";
  broker.shards = 1;
  zkrecipes::test::run_killed_worker(argv[1], argv[2], "/e-g", [&](const zkrecipes::session& zk) {
    return zkrecipes::redis_streams(zk, "/t", broker).feed(0, "g");
  });
}
