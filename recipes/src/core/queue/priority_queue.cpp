#include <algorithm>
#include <utility>

#include <zkrecipes/priority_queue.hpp>

#include "queue/queue_core.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

bool is_priority(int number) { return number >= 0 && number <= 999; }

}  // namespace

priority_queue::priority_queue(session over, std::string path, queue_options options)
    : queue_base(over, queue_core::make(over, queue_kind::priority, std::move(path), std::move(options))) {}

void priority_queue::start_put(handler_for<void(error_code, std::string)> h, core_ptr core, std::string data,
                               int priority) {
  if (!is_priority(priority)) {
    return launch(*core->get_scheduler(), std::move(h), refuse<std::string>(errc::bad_arguments));
  }
  launch(std::move(h), core->get_putter(), &putter::put, new_item{priority, std::move(data)});
}

void priority_queue::start_put_many(handler_for<void(error_code, names)> h, core_ptr core,
                                    std::vector<prioritized> items) {
  const bool fine = std::all_of(items.begin(), items.end(), [](auto& each) { return is_priority(each.priority); });
  if (!fine) return launch(*core->get_scheduler(), std::move(h), refuse<names>(errc::bad_arguments));
  std::vector<new_item> all;
  for (auto& each : items) all.push_back({each.priority, std::move(each.data)});
  launch(std::move(h), core->get_putter(), &putter::put_many, std::move(all));
}

}  // namespace zkrecipes
