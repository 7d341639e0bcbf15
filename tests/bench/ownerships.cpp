#include "ownerships.hpp"

#include <exception>

#include "asynchronous.hpp"

namespace bench {

awaitable<double> time_to_own(owning acquisition) {
  const auto begin = clock::now();
  auto held = co_await std::move(acquisition);
  const double took = ms_since(begin);
  co_await held.async_release(use_awaitable);
  co_return took;
}

awaitable<double> time_to_succeed(setting& where, owning holder, owning waiter, awaitable<void> both_in_line) {
  auto held = co_await std::move(holder);
  zkrecipes::ownership next;
  moment owned(where.first.get_executor());
  asio::co_spawn(where.first.get_executor(), std::move(waiter), [&](std::exception_ptr, zkrecipes::ownership owner) {
    next = std::move(owner);
    owned.note();
  });
  co_await std::move(both_in_line);
  co_await where.second.async_sync(use_awaitable);  // answered after the waiter's look at its predecessor
  const auto begin = clock::now();
  held.async_release(asio::detached);
  const auto end = co_await owned.wait();
  co_await next.async_release(use_awaitable);
  co_return ms_between(begin, end);
}

}  // namespace bench
