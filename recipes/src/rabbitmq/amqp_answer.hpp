#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <zkrecipes/error.hpp>

namespace zkrecipes::detail {

/// The argument `x-delivery-limit` of a queue. None: it was made without.
using delivery_limit = std::optional<std::int64_t>;

/// What the broker answers to a request.
struct amqp_answer {
  error_code error{};
  std::string words{};          ///< The broker's words, with an error.
  std::uint32_t messages = 0;   ///< In the queue, ready to be delivered.
  std::uint32_t consumers = 0;  ///< The queue has so many.
  /// A declaration was refused because the queue has this limit, as far as the words tell it.
  std::optional<delivery_limit> standing{};
};

}  // namespace zkrecipes::detail
