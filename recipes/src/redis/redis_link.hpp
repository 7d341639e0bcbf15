// One connection of hiredis' asynchronous API, driven by Asio.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "backend/endpoint.hpp"

struct redisAsyncContext;
struct redisReply;

namespace zkrecipes::detail {

/// It connects to one numeric address, and ends once. hiredis asks by its hooks for what it waits, and is called when
/// Asio says that the socket is ready; there is no thread. hiredis closes the socket itself, so Asio lets go of it
/// before. On the strand.
class redis_link : public std::enable_shared_from_this<redis_link> {
 public:
  /// Called inside of hiredis, with null if the connection has ended before the reply: it must only take note.
  using reply_handler = std::function<void(const redisReply*)>;

  /// `changed`: called inside of hiredis when the connection is up, and when it has ended.
  redis_link(boost::asio::any_io_executor strand, std::function<void()> changed);
  ~redis_link();
  redis_link(const redis_link&) = delete;
  redis_link& operator=(const redis_link&) = delete;

  void connect(const backend::endpoint& broker);
  bool is_up() const noexcept { return is_up_; }
  bool is_over() const noexcept { return is_over_; }
  /// Why it has ended, in the words of hiredis or of the system.
  const std::string& reason() const noexcept { return reason_; }

  /// Sends a command behind those sent before. The handlers are called in this order.
  void send(const std::vector<std::string>& command, reply_handler handler);
  /// Ends the connection. Nothing is called after this.
  void abandon();

 private:
  struct hooks;

  void wait_to_read();
  void wait_to_write();
  void let_go();
  void end(const char* reason);
  void take_reply(const redisReply* reply);

  boost::asio::posix::stream_descriptor descriptor_;
  std::function<void()> changed_;
  redisAsyncContext* context_ = nullptr;
  std::deque<reply_handler> handlers_;
  bool is_up_ = false;
  bool is_over_ = false;
  bool wants_read_ = false;
  bool wants_write_ = false;
  bool is_reading_ = false;  // a wait is under way
  bool is_writing_ = false;
  std::string reason_;
};

}  // namespace zkrecipes::detail
