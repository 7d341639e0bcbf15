// The connection of a consumer to Redis.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "broker/broker_connection.hpp"
#include "redis/redis_frame.hpp"
#include "redis/redis_link.hpp"

namespace zkrecipes::detail {

/// Finds a broker that is a primary. On the strand.
class redis_connection final : public broker_connection {
 public:
  explicit redis_connection(redis_frame_ptr frame, retries with = retries::none);

  /// Handlers are called by the connection of now only.
  void send(const std::vector<std::string>& command, redis_link::reply_handler handler);
  /// The same, in one piece with the command that is sent next.
  void prepare(const std::vector<std::string>& command, redis_link::reply_handler handler);

 private:
  struct greeting;

  std::shared_ptr<broker_link> make_link(std::unique_ptr<backend::broker_stream> over,
                                         std::function<void()> changed) override;
  awaitable<error_code> greet(lease_clock::time_point deadline) override;
  void on_answer(greeting& of, std::size_t step, const redisReply* reply);

  redis_frame_ptr frame_;
};

}  // namespace zkrecipes::detail
