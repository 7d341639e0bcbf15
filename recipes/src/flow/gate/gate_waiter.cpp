#include "gate/gate_waiter.hpp"

#include "gate/gate_state.hpp"

namespace zkrecipes::detail {

gate_waiter::gate_waiter(std::shared_ptr<gate_state> whose, const gate_key& for_key, gate_caller caller)
    : whose_(std::move(whose)), key_(for_key), caller_(std::move(caller)) {}

void gate_waiter::listen() {
  auto slot = caller_.cancellation_slot();
  if (!slot.is_connected()) return;
  // The slot may outlive the operation, and even the context, so its handler has only a weak pointer.
  slot.assign([weak = weak_from_this()](boost::asio::cancellation_type type) {
    const auto alive = weak.lock();
    if (alive && type != boost::asio::cancellation_type::none) alive->whose_->cancel(*alive);
  });
}

}  // namespace zkrecipes::detail
