// Putting, for all queues.
#include <utility>

#include "queue/queue_core.hpp"

namespace zkrecipes::detail {

awaitable<outcome<std::string>> queue_core::put(new_item item) {
  std::vector<new_item> one;
  one.push_back(std::move(item));
  auto result = co_await putter_.put(std::move(one));
  auto& [error, made] = result;
  co_return outcome<std::string>(error, made.empty() ? std::string() : std::move(made.front()));
}

awaitable<outcome<names>> queue_core::put_many(std::vector<new_item> items) {
  co_return co_await putter_.put(std::move(items));
}

awaitable<outcome<std::string>> queue_core::put_later(new_item item) {
  auto error = co_await clock_->learn();
  if (error) co_return failed<std::string>(error);
  item.rank += clock_->latest();
  co_return co_await put(std::move(item));
}

awaitable<outcome<names>> queue_core::put_many_later(std::vector<new_item> items) {
  auto error = co_await clock_->learn();
  if (error) co_return failed<names>(error);
  const auto now = clock_->latest();
  for (auto& each : items) each.rank += now;
  co_return co_await putter_.put(std::move(items));
}

}  // namespace zkrecipes::detail
