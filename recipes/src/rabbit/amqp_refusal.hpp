// What it means that RabbitMQ closes a channel or a connection.
#pragma once

#include <cstdint>
#include <string>

#include <zkrecipes/error.hpp>

namespace zkrecipes::detail {

struct amqp_refusal {
  std::uint16_t code = 0;    ///< AMQP_..., as 404.
  std::uint32_t method = 0;  ///< AMQP_..._METHOD of the request that is refused; 0: none.
  std::string text{};
};

error_code error_of_refusal(const amqp_refusal& refusal);

}  // namespace zkrecipes::detail
