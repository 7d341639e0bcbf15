#include "delivery/lane.hpp"

namespace zkrecipes::detail {

std::string lane_of(const queue_consumer_options& options, const message& what) {
  if (options.order == message_order::none) return what.name;
  if (options.order == message_order::strict) return {};
  try {
    return options.key(what);
  } catch (...) {
    return {};
  }
}

}  // namespace zkrecipes::detail
