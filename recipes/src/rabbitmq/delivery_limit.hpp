// How often a queue lets a message come back before it drops it.
#pragma once

#include <cstdint>
#include <optional>

#include "rabbitmq/amqp_answer.hpp"

namespace zkrecipes::detail {

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
