// One connection to a broker. hiredis formats the commands and parses the replies, Asio carries them.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "backend/endpoint.hpp"
#include "redis/redis_socket.hpp"

struct redisReader;
struct redisReply;

namespace zkrecipes::detail {

/// It connects to one numeric address, and ends once. On the strand. hiredis' own connections resolve names while they
/// block, know no TLS, and abort the process at a reply that comes unasked.
class redis_link : public std::enable_shared_from_this<redis_link> {
 public:
  /// With null if the connection has ended before the reply. It must only take note.
  using reply_handler = std::function<void(const redisReply*)>;

  /// `changed`: called when the connection is up, and when it has ended. It must only take note. Without `secure` the
  /// connection is plain text.
  redis_link(boost::asio::any_io_executor strand, std::optional<backend::tls_context::connection> secure,
             std::function<void()> changed);
  ~redis_link();
  redis_link(const redis_link&) = delete;
  redis_link& operator=(const redis_link&) = delete;

  void connect(const backend::endpoint& broker);
  bool is_up() const noexcept { return is_up_; }
  bool is_over() const noexcept { return is_over_; }
  /// Why it has ended.
  const std::string& reason() const noexcept { return reason_; }

  /// Sends a command behind those sent before. The handlers are called in this order.
  void send(const std::vector<std::string>& command, reply_handler handler);
  /// Ends the connection. Nothing is called after this.
  void abandon();

 private:
  struct reader_deleter {
    void operator()(redisReader* what) const noexcept;
  };

  void read();
  bool take_replies(std::size_t size);
  bool take_reply(const redisReply* reply);
  void write();
  void end(const std::string& reason);

  redis_socket socket_;
  std::function<void()> changed_;
  std::unique_ptr<redisReader, reader_deleter> reader_;
  std::vector<char> received_;
  std::string to_send_;
  std::string sending_;  // what the socket is being given
  std::deque<reply_handler> handlers_;
  bool is_up_ = false;
  bool is_over_ = false;
  std::string reason_;
};

}  // namespace zkrecipes::detail
