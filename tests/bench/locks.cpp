// Locks in round trips.
#include "operations.hpp"
#include "stopwatch.hpp"

#include <zkrecipes/zkrecipes.hpp>

#include <boost/asio.hpp>

namespace bench {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

namespace {

awaitable<double> free_lock(setting& where, std::string path) {
  zkrecipes::lock lock(where.first, path);
  const auto begin = clock::now();
  auto held = co_await lock.async_acquire(use_awaitable);
  const double took = ms_since(begin);
  co_await held.async_release(use_awaitable);
  co_return took;
}

awaitable<double> free_read_lock(setting& where, std::string path) {
  zkrecipes::read_write_lock lock(where.first, path);
  const auto begin = clock::now();
  auto held = co_await lock.async_acquire_read(use_awaitable);
  const double took = ms_since(begin);
  co_await held.async_release(use_awaitable);
  co_return took;
}

awaitable<void> until_in_line(zkrecipes::lock& lock, std::size_t count) {
  for (;;) {
    auto members = co_await lock.async_members(use_awaitable);
    if (members.size() == count) co_return;
  }
}

awaitable<double> hand_off(setting& where, std::string path) {
  zkrecipes::lock one(where.first, path);
  zkrecipes::lock two(where.second, path);
  auto held = co_await one.async_acquire(use_awaitable);
  zkrecipes::ownership next;
  moment owned(where.first.get_executor());
  two.async_acquire(asio::bind_executor(where.first.get_executor(),
                                        [&](const zkrecipes::error_code&, zkrecipes::ownership owner) {
                                          next = std::move(owner);
                                          owned.note();
                                        }));
  co_await until_in_line(one, 2);
  co_await where.second.async_sync(use_awaitable);  // behind its look at the predecessor
  const auto begin = clock::now();
  held.async_release(asio::detached);
  const auto end = co_await owned.wait();
  co_await next.async_release(use_awaitable);
  co_return ms_between(begin, end);
}

}  // namespace

std::vector<operation> lock_operations() {
  return {{"acquire a free lock", "acquire a free lock", &free_lock},
          {"acquire a free read lock", "acquire a free read lock", &free_read_lock},
          {"release a lock until the next owner knows", "lock hand-off", &hand_off}};
}

}  // namespace bench
