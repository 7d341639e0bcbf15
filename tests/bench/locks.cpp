// Locks in round trips.
#include "asynchronous.hpp"
#include "ownerships.hpp"

namespace bench {

namespace {

awaitable<double> free_lock(setting& where, std::string path) {
  zkrecipes::lock lock(where.first, path);
  auto acquisition = lock.async_acquire(use_awaitable);
  co_return co_await time_to_own(std::move(acquisition));
}

awaitable<double> free_read_lock(setting& where, std::string path) {
  zkrecipes::read_write_lock lock(where.first, path);
  auto acquisition = lock.async_acquire_read(use_awaitable);
  co_return co_await time_to_own(std::move(acquisition));
}

awaitable<double> free_semaphore(setting& where, std::string path) {
  zkrecipes::semaphore semaphore(where.first, path, 2);
  auto acquisition = semaphore.async_acquire(use_awaitable);
  co_return co_await time_to_own(std::move(acquisition));
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
  auto holder = one.async_acquire(use_awaitable);
  auto waiter = two.async_acquire(use_awaitable);
  auto both = until_in_line(one, 2);
  co_return co_await time_to_succeed(where, std::move(holder), std::move(waiter), std::move(both));
}

}  // namespace

std::vector<operation> lock_operations() {
  return {{"acquire a free lock", "acquire a free lock", &free_lock},
          {"acquire a free read lock", "acquire a free read lock", &free_read_lock},
          {"acquire a free semaphore", "acquire a free semaphore", &free_semaphore},
          {"release a lock until the next owner knows", "lock hand-off", &hand_off}};
}

}  // namespace bench
