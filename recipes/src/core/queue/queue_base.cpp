// The public operations that all queues share.
#include <utility>

#include <zkrecipes/queue_base.hpp>

#include "queue/dead_letter_folder.hpp"
#include "queue/queue_core.hpp"
#include "queue/queue_upkeep.hpp"
#include "session/deadline.hpp"

namespace zkrecipes {

using namespace detail;

queue_base::queue_base(session over, core_ptr core) : session_(std::move(over)), core_(std::move(core)) {}

const std::string& queue_base::path() const noexcept { return core_ ? core_->frame()->where.items : no_path(); }

const queue_options& queue_base::options() const noexcept {
  static const queue_options defaults;
  return core_ ? core_->frame()->options : defaults;
}

}  // namespace zkrecipes

namespace zkrecipes::detail {

void queue_operations::take(handler<message> h, core_ptr core, lease_clock::duration budget) {
  launch_within(budget, std::move(h), std::move(core), &queue_core::take);
}

void queue_operations::take_many(handler<std::vector<message>> h, core_ptr core, std::size_t most,
                                 lease_clock::duration budget) {
  launch_within(budget, std::move(h), std::move(core), &queue_core::take_many, most);
}

void queue_operations::pop(handler<message> h, core_ptr core, lease_clock::duration budget) {
  launch_within(budget, std::move(h), std::move(core), &queue_core::pop);
}

void queue_operations::acknowledge(handler<> h, core_ptr core, message item, transaction effects) {
  launch(std::move(h), std::move(core), &queue_core::acknowledge, std::move(item), std::move(effects));
}

void queue_operations::give_back(handler<> h, core_ptr core, message item, return_to where, std::string reason) {
  launch(std::move(h), std::move(core), &queue_core::give_back, std::move(item), where, std::move(reason));
}

void queue_operations::reject(handler<> h, core_ptr core, message item, std::string reason) {
  launch(std::move(h), std::move(core), &queue_core::reject, std::move(item), std::move(reason));
}

void queue_operations::size(handler<std::size_t> h, core_ptr core) {
  launch(*core->get_scheduler(), std::move(h), count_items(core->frame()));
}

void queue_operations::status(handler<queue_status> h, core_ptr core) {
  launch(*core->get_scheduler(), std::move(h), read_status(core->frame(), core->clock()));
}

void queue_operations::dead_letters(handler<std::vector<dead_letter>> h, core_ptr core) {
  const auto& frame = *core->frame();
  launch(*core->get_scheduler(), std::move(h), read_letters(frame.session, frame.where.on_side(dead_folder)));
}

void queue_operations::revive(handler<> h, core_ptr core, dead_letter which) {
  launch(*core->get_scheduler(), std::move(h), revive_letter(core->frame(), core->get_capacity(), std::move(which)));
}

void queue_operations::discard(handler<> h, core_ptr core, dead_letter which) {
  const auto& frame = *core->frame();
  auto discarding = discard_letter(frame.session, frame.where.on_side(dead_folder), std::move(which.name));
  launch(*core->get_scheduler(), std::move(h), std::move(discarding));
}

void queue_operations::parked_keys(handler<std::vector<parked_key>> h, core_ptr core) {
  launch(*core->get_scheduler(), std::move(h), read_parked_keys(core->frame()));
}

void queue_operations::revive_key(handler<std::size_t> h, core_ptr core, parked_key which) {
  launch(*core->get_scheduler(), std::move(h), detail::revive_key(core->frame(), std::move(which)));
}

}  // namespace zkrecipes::detail
