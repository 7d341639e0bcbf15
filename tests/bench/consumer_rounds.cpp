#include "consumer_rounds.hpp"

#include <boost/asio.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "support/coroutine.hpp"
#include "timed_consumer.hpp"

namespace bench {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using namespace std::chrono_literals;
using namespace zkrecipes::test;

namespace {

/// The effect of a message is a node.
class effect_maker : public timed_consumer {
 public:
  using timed_consumer::timed_consumer;

  awaitable<zkrecipes::message_outcome> process(zkrecipes::term, const zkrecipes::message& item) override {
    record_call();
    co_return zkrecipes::transaction().create(std::string(delivery_paths::effects) + '/' + item.name, item.data);
  }
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
  const auto seen = work_off(io, zk, delivery_paths::coordinator, career, backlog.count());
  run_coroutine(io, close(zk));
  backlog.require_all_effects();
  return seen;
}

}  // namespace bench
