// What RabbitMQ answers, what it means that it closes a channel or a connection, and how often a queue lets a message
// come back before it drops it.
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

// The limits of queues.

/// That of the queues that we make. RabbitMQ counts each return of a message that nobody has touched, and 4.x drops a
/// message of a queue without this argument after 20 of them. A policy can lower it, and no client is told.
inline constexpr std::int64_t unreachable_limit = 1'000'000'000;
/// A queue with a lower one is left alone, because it would drop messages of a service that is restarted often.
inline constexpr std::int64_t least_limit = 1'000;
/// A message that has come back so often is told: without the argument, it is lost after 20 returns.
inline constexpr std::uint64_t many_returns = 10;

/// Whether a queue with this argument drops messages that nobody has refused. -1 is none, since 4.0.
inline bool is_dangerous(const delivery_limit& limit) { return limit && *limit >= 0 && *limit < least_limit; }

/// Whether a broker of this version drops messages of a queue without the argument. One that tells no version may.
inline bool limits_by_itself(int major_version) { return major_version == 0 || major_version > 3; }

/// What has come of a declaration with `asked`. Errors: that of the answer; `unavailable`: the queue has another limit,
/// which `asked` is now, and is to be declared again by another connection; `other_queue`: its limit drops messages.
error_code judge_declared(delivery_limit& asked, const amqp_answer& answer);

}  // namespace zkrecipes::detail
