#include <utility>

#include <zkrecipes/queue.hpp>

#include "queue/queue_follower.hpp"
#include "queue/start_put.hpp"

namespace zkrecipes {

using namespace detail;

queue::queue(session over, std::string path, queue_options options)
    : queue_base(over, queue_core::make(over, queue_kind::fifo, std::move(path), std::move(options))),
      follower_(std::make_shared<queue_follower>(get_queue()->frame())) {}

transaction queue::removal(const message& item) const { return transaction().remove(join(path(), item.name)); }

void queue::start_put(handler_for<void(error_code, std::string)> h, core_ptr core, std::string data) {
  launch(core->on(), std::move(h), put_item(core, 0, std::move(data)));
}

void queue::start_put_many(handler_for<void(error_code, names)> h, core_ptr core, std::vector<std::string> items) {
  std::vector<new_item> all;
  for (auto& each : items) all.push_back({0, std::move(each)});
  launch(core->on(), std::move(h), put_items(core, std::move(all)));
}

void queue::start_next(handler_for<void(error_code, message)> h, follower_ptr follower) {
  const auto& on = *follower->session()->get_scheduler();
  launch(on, std::move(h), owning(std::move(follower), &queue_follower::next));
}

}  // namespace zkrecipes
