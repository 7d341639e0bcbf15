// Commands to a broker that are asked until it has answered.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "redis/redis_connection.hpp"

namespace zkrecipes::detail {

/// A command, and what its reply means.
struct redis_question {
  std::vector<std::string> command;
  std::function<error_code(const redisReply&)> take;
  error_code error{};
  std::string words{};
  int sent = 0;      ///< How often it was sent.
  int answered = 0;  ///< How often there was a reply.

  void answer(const redisReply& reply);
  /// A reply was lost: the broker may have done it, and may still do it.
  bool is_open() const noexcept { return sent > answered; }
};

using redis_questions = std::vector<std::shared_ptr<redis_question>>;

/// Asks all in one round trip, and again while the broker is away or answers that it can not at the moment, until this
/// time. `may_repeat`: else a reply that is lost is `outcome_unknown`. Errors besides: those of
/// `redis_connection::ready`, and of the replies.
awaitable<error_code> ask_broker(redis_frame_ptr frame, redis_connection& by, redis_questions all, bool may_repeat,
                                 lease_clock::time_point until);

}  // namespace zkrecipes::detail
