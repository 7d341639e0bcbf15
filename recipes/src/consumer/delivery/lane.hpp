// The lane of a message: see `delivery_window`.
#pragma once

#include <string>

#include <zkrecipes/consumer/queue_consumer.hpp>

namespace zkrecipes::detail {

/// By key it is the key, which is empty if it can not be told; with `message_repeats` it is the name of the producer.
std::string lane_of(const queue_consumer_options& options, const message& what);

}  // namespace zkrecipes::detail
