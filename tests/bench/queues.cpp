// Queues in round trips.
#include "asynchronous.hpp"
#include "operations.hpp"

namespace bench {

namespace {

/// Measures the second put of an object, because the first one measures the length of the list before it.
awaitable<double> put(setting& where, std::string path) {
  zkrecipes::queue queue(where.first, path);
  co_await queue.async_put("item", use_awaitable);
  auto first = co_await queue.async_take(use_awaitable);
  co_await queue.async_acknowledge(first, use_awaitable);
  const auto begin = clock::now();
  co_await queue.async_put("item", use_awaitable);
  const double took = ms_since(begin);
  auto item = co_await queue.async_take(use_awaitable);
  co_await queue.async_acknowledge(item, use_awaitable);
  co_return took;
}

/// Measures a take from a list that is already known, as it is while there is work.
awaitable<double> take(setting& where, std::string path, bool acknowledge) {
  zkrecipes::queue queue(where.first, path);
  for (int i = 0; i < 3; ++i) co_await queue.async_put("item", use_awaitable);
  auto first = co_await queue.async_take(use_awaitable);
  const auto begin = clock::now();
  auto second = co_await queue.async_take(use_awaitable);
  if (acknowledge) co_await queue.async_acknowledge(second, use_awaitable);
  const double took = ms_since(begin);
  if (!acknowledge) co_await queue.async_acknowledge(second, use_awaitable);
  co_await queue.async_acknowledge(first, use_awaitable);
  auto third = co_await queue.async_take(use_awaitable);
  co_await queue.async_acknowledge(third, use_awaitable);
  co_return took;
}

awaitable<double> take_only(setting& where, std::string path) { co_return co_await take(where, path, false); }
awaitable<double> take_and_acknowledge(setting& where, std::string path) { co_return co_await take(where, path, true); }

}  // namespace

std::vector<operation> queue_operations() {
  return {{"queue put", "queue put", &put},
          {"queue take", "queue take", &take_only},
          {"queue take and acknowledge", "queue take and acknowledge", &take_and_acknowledge}};
}

}  // namespace bench
