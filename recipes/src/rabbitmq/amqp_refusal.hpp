// What it means that RabbitMQ closes a channel or a connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <zkrecipes/error.hpp>

#include "rabbitmq/amqp_answer.hpp"

namespace zkrecipes::detail {

struct amqp_refusal {
  std::uint16_t code = 0;    ///< AMQP_..., as 404.
  std::uint32_t method = 0;  ///< AMQP_..._METHOD of the request that is refused; 0: none.
  std::string text{};
};

error_code error_of_refusal(const amqp_refusal& refusal);
/// With these words a declaration is refused. If it is because the queue has another limit: that one, or none if the
/// words are cut off in front of it.
std::optional<delivery_limit> limit_in_the_way(std::string_view words);

}  // namespace zkrecipes::detail
