#include <stdexcept>
#include <utility>

#include <zkrecipes/producer.hpp>
#include <zkrecipes/queue.hpp>

#include "queue/producer_state.hpp"
#include "queue/queue_core.hpp"

namespace zkrecipes {

using namespace detail;

producer::producer(const queue& into, std::string name) : session_(into.get_session()) {
  require_id("producer name", name);
  if (name.find('/') != name.npos) throw std::invalid_argument("producer name: it must not contain '/'");
  state_ =
      std::make_shared<producer_state>(into.get_queue()->frame(), into.get_queue()->get_capacity(), std::move(name));
}

const std::string& producer::path() const noexcept { return state_ ? state_->path() : no_path(); }

void producer::start_put(handler_for<void(error_code, std::uint64_t)> h, state_ptr state, std::string data) {
  launch(std::move(h), std::move(state), &producer_state::put, std::move(data));
}

void producer::start_last(handler_for<void(error_code, std::uint64_t)> h, state_ptr state) {
  launch(std::move(h), std::move(state), &producer_state::last);
}

}  // namespace zkrecipes
