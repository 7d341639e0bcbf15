// The bodies of the put operations of all queues.
#pragma once

#include <utility>

#include "queue/queue_core.hpp"

namespace zkrecipes::detail {

using names = std::vector<std::string>;

inline awaitable<outcome<names>> put_items(std::shared_ptr<queue_core> core, std::vector<new_item> items) {
  co_return co_await core->put().put(std::move(items));
}

inline awaitable<outcome<std::string>> put_item(std::shared_ptr<queue_core> core, std::int64_t rank, std::string data) {
  std::vector<new_item> one;
  one.push_back({rank, std::move(data)});
  auto result = co_await core->put().put(std::move(one));
  auto& [error, made] = result;
  co_return outcome<std::string>(error, made.empty() ? std::string() : std::move(made.front()));
}

}  // namespace zkrecipes::detail
