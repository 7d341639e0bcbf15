#include <stdexcept>
#include <utility>

#include <zkrecipes/producer.hpp>
#include <zkrecipes/queue.hpp>

#include "queue/producer_state.hpp"
#include "queue/queue_core.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

void check(const producer_options& options) {
  using namespace std::chrono_literals;
  if (options.max_batch < 1 || options.max_batch > 1'000) {
    throw std::invalid_argument("producer_options::max_batch is " + std::to_string(options.max_batch) +
                                "; it must be from 1 to 1000");
  }
  if (options.linger < 0ms || options.linger > 60s) {
    throw std::invalid_argument("producer_options::linger is " + std::to_string(options.linger.count()) +
                                " ms; it must be from 0 to 60 s");
  }
}

}  // namespace

producer::producer(const queue& into, std::string name, producer_options options) : session_(into.get_session()) {
  require_part_of_name("producer name", name);
  check(options);
  const auto& core = into.get_queue();
  state_ = std::make_shared<producer_state>(core->frame(), core->get_capacity(), std::move(name), options);
}

const std::string& producer::path() const noexcept { return state_ ? state_->path() : no_path(); }

const producer_options& producer::options() const noexcept {
  static const producer_options defaults;
  return state_ ? state_->options() : defaults;
}

void producer::start_put(handler_for<void(error_code, std::uint64_t)> h, state_ptr state, std::string data) {
  launch(std::move(h), std::move(state), &producer_state::put, std::move(data));
}

void producer::start_last(handler_for<void(error_code, std::uint64_t)> h, state_ptr state) {
  launch(std::move(h), std::move(state), &producer_state::last);
}

}  // namespace zkrecipes
