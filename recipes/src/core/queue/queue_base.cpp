// The public operations that all queues share.
#include <utility>

#include <zkrecipes/queue_base.hpp>

#include "queue/queue_core.hpp"
#include "session/deadline.hpp"

namespace zkrecipes {

using namespace detail;

queue_base::queue_base(session over, core_ptr core) : session_(std::move(over)), core_(std::move(core)) {}

const std::string& queue_base::path() const noexcept { return core_ ? core_->frame()->where.items : no_path(); }

const queue_options& queue_base::options() const noexcept {
  static const queue_options defaults;
  return core_ ? core_->frame()->options : defaults;
}

void queue_base::start_take(handler<message> h, core_ptr core, lease_clock::duration budget) {
  launch_within(budget, std::move(h), std::move(core), &queue_core::take);
}

void queue_base::start_take_many(handler<std::vector<message>> h, core_ptr core, std::size_t most,
                                 lease_clock::duration budget) {
  launch_within(budget, std::move(h), std::move(core), &queue_core::take_many, most);
}

void queue_base::start_pop(handler<message> h, core_ptr core, lease_clock::duration budget) {
  launch_within(budget, std::move(h), std::move(core), &queue_core::pop);
}

void queue_base::start_acknowledge(handler<> h, core_ptr core, message item, transaction effects) {
  launch(std::move(h), std::move(core), &queue_core::acknowledge, std::move(item), std::move(effects));
}

void queue_base::start_return(handler<> h, core_ptr core, message item, return_to where, std::string reason) {
  launch(std::move(h), std::move(core), &queue_core::give_back, std::move(item), where, std::move(reason));
}

void queue_base::start_reject(handler<> h, core_ptr core, message item, std::string reason) {
  launch(std::move(h), std::move(core), &queue_core::reject, std::move(item), std::move(reason));
}

void queue_base::start_size(handler<std::size_t> h, core_ptr core) {
  launch(std::move(h), std::move(core), &queue_core::size);
}

void queue_base::start_status(handler<queue_status> h, core_ptr core) {
  launch(std::move(h), std::move(core), &queue_core::status);
}

void queue_base::start_dead_letters(handler<std::vector<dead_letter>> h, core_ptr core) {
  launch(std::move(h), std::move(core), &queue_core::dead_letters);
}

void queue_base::start_revive(handler<> h, core_ptr core, dead_letter which) {
  launch(std::move(h), std::move(core), &queue_core::revive, std::move(which));
}

void queue_base::start_discard(handler<> h, core_ptr core, dead_letter which) {
  launch(std::move(h), std::move(core), &queue_core::discard, std::move(which));
}

void queue_base::start_parked_keys(handler<std::vector<parked_key>> h, core_ptr core) {
  launch(std::move(h), std::move(core), &queue_core::parked_keys);
}

void queue_base::start_revive_key(handler<std::size_t> h, core_ptr core, parked_key which) {
  launch(std::move(h), std::move(core), &queue_core::revive_key, std::move(which));
}

}  // namespace zkrecipes
