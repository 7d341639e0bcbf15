// A process that consumes the messages of a broker until it is killed. The effect of each message is a node, whose
// number tells the order.
#pragma once

#include <functional>
#include <iostream>
#include <string>

#include <boost/asio.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>

namespace zkrecipes::test {

using namespace std::chrono_literals;

class killed_worker final : public queue_consumer {
 public:
  explicit killed_worker(const message_feed& from) : queue_consumer(from, {.window = 16}) {}

  career_traits traits() const override {
    career_traits how;
    how.hand_over_deadline = 0ms;
    return how;
  }
  boost::asio::awaitable<message_outcome> process(term, const message& item) override {
    co_return transaction().create("/results/r-", item.data, create_mode::persistent_sequential);
  }
};

/// Returns only when the run has ended, of which it tells by its standard error.
inline void run_killed_worker(const std::string& hosts, const std::string& root, const std::string& election,
                              const std::function<message_feed(const session&)>& make_feed) {
  boost::asio::io_context io;
  session_options where;
  where.hosts = hosts;
  where.root = root;
  where.timeout = 1s;
  const session zk(io, where);
  killed_worker career(make_feed(zk));
  consumer_coordinator leader(zk, election, {.id = "worker"});
  leader.async_run(career, [](error_code error) { std::cerr << "ended: " << error.message() << std::endl; });
  std::cout << "begun" << std::endl;
  io.run();
}

}  // namespace zkrecipes::test
