// A replica for the pictures of zkadmin: it campaigns, leads until it is asked to give up, and takes its time to hand
// over. It runs until it is killed.
//   screens-replica HOSTS PATH ID HAND-OVER-SECONDS
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>

#include <signal.h>
#include <sys/prctl.h>

#include <boost/asio.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class slow_leader final : public zkrecipes::leader_career {
 public:
  explicit slow_leader(std::chrono::seconds hand_over_time) : hand_over_time_(hand_over_time) {}

  zkrecipes::career_traits traits() const override {
    zkrecipes::career_traits declared;
    declared.hand_over_deadline = 20s;
    return declared;
  }

  asio::awaitable<void> inaugurate(zkrecipes::term) override { co_return; }

  asio::awaitable<void> execute(zkrecipes::term present) override {
    const auto idle = present.idle();
    co_await present.async_ending(asio::as_tuple(asio::use_awaitable));
  }

  asio::awaitable<void> hand_over(zkrecipes::term, zkrecipes::term_end) override {
    asio::steady_timer work(co_await asio::this_coro::executor, hand_over_time_);
    co_await work.async_wait(asio::use_awaitable);
  }

 private:
  std::chrono::seconds hand_over_time_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: screens-replica HOSTS PATH ID HAND-OVER-SECONDS\n";
    return 2;
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also if the drawing program is killed
  asio::io_context io;
  zkrecipes::session session(io.get_executor(), {.hosts = argv[1], .timeout = 10s});
  slow_leader career{std::chrono::seconds(std::atoi(argv[4]))};
  zkrecipes::consumer_coordinator coordinator(session, argv[2], {.id = argv[3]});
  coordinator.async_run(career, [&](zkrecipes::error_code error) {
    std::cerr << argv[3] << ": " << error.message() << '\n';
    io.stop();
  });
  io.run();
  return 1;
}
