#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "rabbitmq/amqp_content.hpp"

namespace zkrecipes::simulation {

/// A message in a queue of the broker.
struct rabbit_message {
  std::uint64_t place = 0;       ///< In the queue: it grows in order of arrival.
  detail::amqp_delivery what{};  ///< As it was published.
  std::string properties{};      ///< The same as it came, encoded; empty: it is made of the above.
  std::uint32_t returns = 0;     ///< How often it was given out and came back.
};

using rabbit_message_ptr = std::shared_ptr<rabbit_message>;

}  // namespace zkrecipes::simulation
