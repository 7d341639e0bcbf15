#include "delivery_backlog.hpp"

#include <algorithm>

#include "asynchronous.hpp"

namespace bench {

using zkrecipes::test::run_coroutine;

namespace {

constexpr int put_at_once = 100;
constexpr int accounts = 1000;  // the keys; more than fit into a window

}  // namespace

delivery_backlog::delivery_backlog(const std::string& hosts, int count)
    : zk_(io_.get_executor(), {.hosts = hosts, .timeout = 30s}), count_(count) {
  run_coroutine(io_, fill(), 1min);
}

delivery_backlog::~delivery_backlog() { run_coroutine(io_, clear(), 1min); }

awaitable<bool> delivery_backlog::fill() {
  for (const auto* path : {delivery_paths::effects, delivery_paths::record}) {
    co_await zk_.async_ensure_path(path, use_awaitable);
  }
  zkrecipes::queue queue(zk_, delivery_paths::queue);
  for (int done = 0; done < count_;) {
    std::vector<std::string> some;
    for (int i = std::min(put_at_once, count_ - done); i > 0; --i) {
      some.push_back("account-" + std::to_string(done++ % accounts));
    }
    co_await queue.async_put_many(std::move(some), use_awaitable);
  }
  co_return true;
}

awaitable<bool> delivery_backlog::clear() {
  for (const auto* path : {delivery_paths::effects, delivery_paths::queue}) {
    co_await zk_.async_remove_with_children(path, use_awaitable);
  }
  co_await zk_.async_close(use_awaitable);
  co_return true;
}

void delivery_backlog::require_all_effects() const {
  const auto found = run_coroutine(io_, zk_.async_children(delivery_paths::effects, use_awaitable), 1min);
  if (found.names.size() != static_cast<std::size_t>(count_)) throw std::runtime_error("a message has no effect");
}

}  // namespace bench
