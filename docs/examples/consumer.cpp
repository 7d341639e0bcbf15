// One of N replicas: run it several times. The elected one processes the queue, the others wait.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/zkrecipes.hpp>

struct billing : zkrecipes::queue_consumer {
  using queue_consumer::queue_consumer;

  boost::asio::awaitable<zkrecipes::message_outcome> process(zkrecipes::term term,
                                                             const zkrecipes::message& item) override {
    std::cout << "epoch " << term.epoch() << ": " << item.data << std::endl;
    co_return zkrecipes::transaction().create("/billing/done-", item.data,
                                              zkrecipes::create_mode::persistent_sequential);
  }

  // The servers refuse effects that come too late, so that no successor waits for a leader that was killed.
  zkrecipes::career_traits traits() const override { return {.hand_over_deadline = std::chrono::milliseconds(0)}; }
};

int main(int argc, char** argv) try {
  boost::asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  billing career(zkrecipes::queue(zk, "/billing/queue"));
  zkrecipes::consumer_coordinator coordinator(zk, "/billing/consumer", {.id = argc > 2 ? argv[2] : "billing-1"});
  boost::asio::signal_set stop(io, SIGINT, SIGTERM);
  stop.async_wait([&](auto, int) { coordinator.stop(); });  // finishes the message in hand, then hands over
  bool has_failed = false;
  coordinator.async_run(career, [&](auto error) {
    std::cout << error.message() << std::endl;
    has_failed = bool(error);
    stop.cancel();
    zk.async_close([](auto) {});  // the servers need not wait for the session to expire
  });
  io.run();
  if (auto why = coordinator.failure()) std::rethrow_exception(why);  // what the career has thrown
  return has_failed;
} catch (const std::exception& failure) {
  std::cerr << failure.what() << std::endl;
  return 1;
}
