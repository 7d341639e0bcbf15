#pragma once

#include <cstdint>
#include <string>

#include <zkrecipes/error.hpp>

namespace zkrecipes::detail {

/// What the broker answers to a request.
struct amqp_answer {
  error_code error{};
  std::string words{};          ///< The broker's words, with an error.
  std::uint32_t messages = 0;   ///< In the queue, ready to be delivered.
  std::uint32_t consumers = 0;  ///< The queue has so many.
};

}  // namespace zkrecipes::detail
