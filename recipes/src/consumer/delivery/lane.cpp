#include "delivery/lane.hpp"

#include <utility>

namespace zkrecipes::detail {

std::string lane_of(const queue_consumer_options& options, const message& what) {
  if (options.order == message_order::none) return what.name;
  if (options.order == message_order::strict) return {};
  try {
    if (!options.repeats) return options.key(what);
    auto origin = options.repeats->origin(what);
    return origin ? std::move(origin->producer) : std::string();
  } catch (...) {
    return {};
  }
}

}  // namespace zkrecipes::detail
