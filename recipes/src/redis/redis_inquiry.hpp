// Commands to a broker whose replies are waited for together.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "redis/redis_connection.hpp"
#include "session/completion.hpp"

namespace zkrecipes::detail {

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
