// The connection of a consumer to Redis.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/world.hpp"
#include "broker/broker_connection.hpp"
#include "redis/redis_frame.hpp"
#include "redis/reply_reader.hpp"
#include "session/condition.hpp"

// One connection to a broker. hiredis formats the commands and parses the replies, Asio carries them.

struct redisReply;

namespace zkrecipes::detail {

/// On the strand. hiredis' own connections resolve names while they block, know no TLS, and abort the process at a
/// reply that comes unasked.
class redis_link final : public broker_link, public std::enable_shared_from_this<redis_link> {
 public:
  /// With null if the connection has ended before the reply. It must only take note.
  using reply_handler = std::function<void(const redisReply*)>;

  /// `changed`: called when the connection is up, and when it has ended. It must only take note. Without a stream
  /// `connect` fails.
  redis_link(scheduler_ptr on, std::unique_ptr<backend::broker_stream> over, std::function<void()> changed);
  ~redis_link() override;

  void connect(const backend::endpoint& broker) override;
  bool is_up() const noexcept override { return is_up_; }
  bool is_over() const noexcept override { return is_over_; }
  const std::string& reason() const noexcept override { return reason_; }
  /// `redis_errc::unavailable`
  error_code why() const noexcept override;
  lease_clock::time_point last_passed() const noexcept override { return passed_; }
  void abandon() override;

  /// Sends a command behind those sent before. The handlers are called in this order.
  void send(const std::vector<std::string>& command, reply_handler handler);
  /// The same, in one piece with the command that is sent next.
  void prepare(const std::vector<std::string>& command, reply_handler handler);

 private:
  void read();
  bool take_replies(std::size_t size);
  bool take_reply(const redisReply* reply);
  void write();
  void on_written(std::size_t size);
  void end(const std::string& reason);

  scheduler_ptr scheduler_;
  std::unique_ptr<backend::broker_stream> stream_;
  std::function<void()> changed_;
  reply_reader reader_;
  std::vector<char> received_;
  std::string to_send_;
  std::string sending_;      // what the socket is being given
  std::size_t written_ = 0;  // of it
  std::deque<reply_handler> handlers_;
  lease_clock::time_point passed_{};
  bool is_up_ = false;
  bool is_over_ = false;
  std::string reason_;
};

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
