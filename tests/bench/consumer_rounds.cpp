#include "consumer_rounds.hpp"

#include <optional>
#include <stdexcept>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include "stopwatch.hpp"
#include "support/coroutine.hpp"

namespace bench {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using namespace std::chrono_literals;
using namespace zkrecipes::test;

namespace {

/// The effect of a message is a node.
class effect_maker : public zkrecipes::queue_consumer {
 public:
  using queue_consumer::queue_consumer;

  awaitable<zkrecipes::message_outcome> process(zkrecipes::term, const zkrecipes::message& item) override {
    if (!began_) began_ = clock::now();
    co_return zkrecipes::transaction().create(std::string(delivery_paths::effects) + '/' + item.name, item.data);
  }

  clock::time_point began() const { return began_.value(); }

 private:
  std::optional<clock::time_point> began_;
};

awaitable<bool> connect(zkrecipes::session& zk) {
  co_await zk.async_connected(use_awaitable);
  co_return true;
}

awaitable<bool> close(zkrecipes::session& zk) {
  co_await zk.async_close(use_awaitable);
  co_return true;
}

}  // namespace

delivery_result consume_round(const std::string& hosts, const delivery_backlog& backlog,
                              const zkrecipes::queue_consumer_options& how) {
  asio::io_context io;
  zkrecipes::session zk(io.get_executor(), {.hosts = hosts, .timeout = 30s});
  run_coroutine(io, connect(zk));
  effect_maker career(zkrecipes::queue(zk, delivery_paths::queue), how);
  zkrecipes::consumer_coordinator coordinator(zk, delivery_paths::coordinator, {.id = "bench"});
  bool ended = false;
  coordinator.async_run(career, [&](zkrecipes::error_code) { ended = true; });
  const auto count = static_cast<std::uint64_t>(backlog.count());
  const auto is_done = [&] { return ended || career.status().done == count; };
  if (!run_until(io, is_done, 2min) || ended) throw std::runtime_error("a consumer does not go on");
  const double seconds = ms_since(career.began()) / 1000;
  const auto commits = static_cast<double>(career.status().commits);
  coordinator.stop();
  run_until(
      io, [&] { return ended; }, 1min);
  run_coroutine(io, close(zk));
  backlog.require_all_effects();
  return {backlog.count() / seconds, commits};
}

}  // namespace bench
