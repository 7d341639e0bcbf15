#include <algorithm>
#include <utility>

#include <zkrecipes/priority_queue.hpp>

#include "queue/start_put.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

bool is_priority(int number) { return number >= 0 && number <= 999; }

}  // namespace

priority_queue::priority_queue(session over, std::string path, queue_options options)
    : queue_base(over, queue_core::make(over, queue_kind::priority, std::move(path), std::move(options))) {}

void priority_queue::start_put(handler_for<void(error_code, std::string)> h, core_ptr core, std::string data,
                               int priority) {
  auto body =
      is_priority(priority) ? put_item(core, priority, std::move(data)) : refuse<std::string>(errc::bad_arguments);
  launch(core->on(), std::move(h), std::move(body));
}

void priority_queue::start_put_many(handler_for<void(error_code, names)> h, core_ptr core,
                                    std::vector<prioritized> items) {
  const bool fine = std::all_of(items.begin(), items.end(), [](auto& each) { return is_priority(each.priority); });
  std::vector<new_item> all;
  for (auto& each : items) all.push_back({each.priority, std::move(each.data)});
  launch(core->on(), std::move(h), fine ? put_items(core, std::move(all)) : refuse<names>(errc::bad_arguments));
}

}  // namespace zkrecipes
