// Commands to a broker whose replies are waited for together.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "redis/redis_connection.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// A command to a broker, which is sent until it was answered, and what its reply means.
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

/// For the connection of now: it asks no second one. On the strand.
class redis_inquiry {
 public:
  /// Must only take note, and own what it refers to.
  using taker = std::function<void(const redisReply&)>;

  redis_inquiry(redis_connection& by, const scheduler_ptr& on);

  void ask(const std::vector<std::string>& command, taker take);
  /// Waits for all replies. False: the connection has ended before them, or is ended because they are late (see
  /// `broker_connection::due`). Error: `operation_aborted`. The connection is closed then, because the replies would
  /// come among those to the next commands.
  awaitable<outcome<bool>> replies(lease_clock::time_point by);

 private:
  struct state {
    explicit state(const scheduler_ptr& on) : arrived(on) {}
    condition arrived;
    std::size_t awaited = 0;
  };

  redis_connection& by_;
  std::uint64_t number_;
  std::shared_ptr<state> state_;
};

}  // namespace zkrecipes::detail
