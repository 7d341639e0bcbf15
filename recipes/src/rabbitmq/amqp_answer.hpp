// What RabbitMQ answers, and what it means that it closes a channel or a connection.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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
