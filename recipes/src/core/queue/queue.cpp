#include <utility>

#include <zkrecipes/queue.hpp>

#include "queue/queue_core.hpp"
#include "queue/queue_follower.hpp"

namespace zkrecipes {

using namespace detail;

queue::queue(session over, std::string path, queue_options options)
    : queue_base(over, queue_core::make(over, queue_kind::fifo, std::move(path), std::move(options))),
      follower_(std::make_shared<queue_follower>(get_queue()->frame())) {}

transaction queue::removal(const message& item) const { return transaction().remove(join(path(), item.name)); }

void queue::start_put(handler_for<void(error_code, std::string)> h, core_ptr core, std::string data) {
  launch(std::move(h), std::move(core), &queue_core::put, new_item{0, std::move(data)});
}

void queue::start_put_many(handler_for<void(error_code, names)> h, core_ptr core, std::vector<std::string> items) {
  std::vector<new_item> all;
  for (auto& each : items) all.push_back({0, std::move(each)});
  launch(std::move(h), std::move(core), &queue_core::put_many, std::move(all));
}

void queue::start_next(handler_for<void(error_code, message)> h, follower_ptr follower) {
  launch_endless(std::move(h), std::move(follower), &queue_follower::next);
}

}  // namespace zkrecipes
