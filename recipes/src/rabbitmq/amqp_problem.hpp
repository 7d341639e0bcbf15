#pragma once

#include <string>

#include <zkrecipes/error.hpp>

namespace zkrecipes::detail {

/// Why a connection to RabbitMQ has to end; without an error it goes on.
struct amqp_problem {
  error_code error{};
  std::string words{};
};

}  // namespace zkrecipes::detail
