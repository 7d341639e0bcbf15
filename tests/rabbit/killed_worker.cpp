// Consumes a queue until it is killed. The effect of each message is a node, whose number tells the order.
//   rabbit_killed_worker HOSTS ROOT BROKERS QUEUE
#include <iostream>
#include <string>

#include <boost/asio.hpp>

#include <zkrecipes/consumer_coordinator.hpp>
#include <zkrecipes/queue_consumer.hpp>
#include <zkrecipes/rabbit_queues.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace zkrecipes;

namespace {

class worker final : public queue_consumer {
 public:
  explicit worker(const message_feed& from) : queue_consumer(from, {.window = 16}) {}

  career_traits traits() const override {
    career_traits how;
    how.hand_over_deadline = 0ms;
    return how;
  }
  asio::awaitable<message_outcome> process(term, const message& item) override {
    co_return transaction().create("/results/r-", item.data, create_mode::persistent_sequential);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  asio::io_context io;
  session_options where;
  where.hosts = argv[1];
  where.root = argv[2];
  where.timeout = 1s;
  session zk(io, where);
  rabbit_options broker;
  broker.hosts = argv[3];
  broker.queue = argv[4];
  broker.heartbeat = 1s;
  broker.stall_timeout = 1s;
  broker.retry = {.first_pause = 10ms, .max_pause = 200ms};
  worker career(rabbit_queues(zk, "/t", broker).feed(0));
  consumer_coordinator leader(zk, "/e", {.id = "worker"});
  leader.async_run(career, [](error_code error) { std::cerr << "ended: " << error.message() << std::endl; });
  std::cout << "begun" << std::endl;
  io.run();
}
