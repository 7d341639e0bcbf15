#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backend/guardian/guardian_message.hpp"
#include "descriptor.hpp"
#include "event_log.hpp"
#include "process_identity.hpp"
#include "registry.hpp"
#include "secrets.hpp"

namespace guardian {

/// What a peer says on one connection, message by message, and what comes of it. It knows nothing of sockets.
class conversation {
 public:
  /// `number`: of the connection; each has another one. All references outlive the conversation.
  conversation(registry& known, event_log& log, const peer& with, std::uint64_t number, process_line& line);
  conversation(const conversation&) = delete;
  conversation& operator=(const conversation&) = delete;
  ~conversation();

  /// `passed`: the descriptors that came with the line. After a refusal the connection is to be closed.
  std::optional<zkrecipes::backend::guardian_answer> hear(std::string_view line, std::vector<descriptor> passed);

  /// Null before `hello`.
  const held_process_ptr& process() const noexcept { return process_; }
  std::chrono::milliseconds hang_limit() const noexcept { return hello_.hang_limit; }

 private:
  using answer = std::optional<zkrecipes::backend::guardian_answer>;
  answer begin(zkrecipes::backend::guardian_hello hello, std::vector<descriptor> passed);
  answer on(zkrecipes::backend::guardian_hello);
  answer on(zkrecipes::backend::guarded_session what);
  answer on(zkrecipes::backend::guarded_session_end what);
  answer on(zkrecipes::backend::guarded_term what);
  answer on(zkrecipes::backend::guarded_term_end what);
  answer on(zkrecipes::backend::guardian_complete);
  answer on(zkrecipes::backend::guardian_ping);
  answer refuse(std::string why);
  answer full(std::string why);

  registry& known_;
  event_log& log_;
  peer with_;
  std::uint64_t number_;
  process_line& line_;
  zkrecipes::backend::guardian_hello hello_;
  held_process_ptr process_;
  bool told_full_ = false;
};

/// How many messages a connection may send: a burst, and then so many in each second.
class rate_limit {
 public:
  using clock = std::chrono::steady_clock;

  rate_limit(std::size_t burst, std::size_t rate)
      : burst_(static_cast<double>(burst)), rate_(static_cast<double>(rate)), left_(burst_) {}

  /// So many have come. Returns how long to read nothing.
  clock::duration charge(std::size_t messages, clock::time_point now) {
    const auto passed = std::chrono::duration<double>(now - since_).count();
    since_ = now;
    left_ = std::min(burst_, left_ + passed * rate_) - static_cast<double>(messages);
    if (left_ >= 0) return clock::duration::zero();
    return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(-left_ / rate_));
  }

 private:
  double burst_;
  double rate_;
  double left_;
  clock::time_point since_ = clock::now();
};

/// The socket of one peer. It reads as fast as the limits allow, and never waits for the peer to read.
class peer_connection final : public std::enable_shared_from_this<peer_connection>, public process_line {
 public:
  using socket = boost::asio::local::stream_protocol::socket;
  using clock = std::chrono::steady_clock;

  /// `closed` is called once. References outlive the connection.
  peer_connection(socket with, registry& known, event_log& log, const peer& who, std::uint64_t number,
                  std::shared_ptr<user_account> account, std::function<void()> closed);
  ~peer_connection() override;

  void start();
  void close() override;

 private:
  enum class look { more, nothing, ended };

  void drain() override;
  void wait_for_data();
  void on_data();
  void take_part();
  look read();
  std::size_t take_lines();
  void answer(const zkrecipes::backend::guardian_answer& what);
  void refuse(const char* why);
  void on_sign_of_life();
  void await_hello();
  void watch_for_hang();
  void on_hang_timer(clock::time_point expected);
  void kill();
  bool has_unread_data();

  socket socket_;
  event_log& log_;
  std::shared_ptr<user_account> account_;
  std::function<void()> closed_;
  rate_limit rate_;
  line_buffer buffer_;
  std::vector<descriptor> passed_;
  boost::asio::steady_timer pause_;
  boost::asio::steady_timer hang_timer_;  // until the hello has come, its limit
  clock::time_point last_sign_;
  bool is_watched_ = false;
  std::unique_ptr<conversation> talk_;
};

}  // namespace guardian
