// Consumes a queue until it is killed.
//   rabbit_killed_worker HOSTS ROOT BROKERS QUEUE
#include "brokers/killed_worker.hpp"

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  zkrecipes::rabbit_options broker;
  broker.hosts = argv[3];
  broker.queue = argv[4];
  broker.heartbeat = 1s;
  broker.stall_timeout = 1s;
  broker.retry = {.first_pause = 10ms, .max_pause = 200ms};
  zkrecipes::test::run_killed_worker(argv[1], argv[2], "/e", [&](const zkrecipes::session& zk) {
    return zkrecipes::rabbit_queues(zk, "/t", broker).feed(0);
  });
}
