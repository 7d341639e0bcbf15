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

/// Checks the arguments.
std::shared_ptr<producer_state> state_of(const queue& into, std::string name, producer_options options) {
  require_part_of_name("producer name", name);
  check(options);
  if (!into.get_queue()) throw std::invalid_argument("producer: a queue that was made by default takes nothing");
  const auto& core = into.get_queue();
  return std::make_shared<producer_state>(core->frame(), core->get_capacity(), std::move(name), options);
}

}  // namespace

producer::producer(const queue& into, std::string name, producer_options options)
    : producer_base(into.get_session(), state_of(into, std::move(name), options)) {}

const producer_options& producer::options() const noexcept { return options_of_producer<producer_state>(*this); }

}  // namespace zkrecipes
