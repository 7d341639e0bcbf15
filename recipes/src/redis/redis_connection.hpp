// The connection of a consumer to a broker: it is made anew when it has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/log.hpp>

#include "redis/redis_frame.hpp"
#include "redis/redis_link.hpp"
#include "session/back_off.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

/// Finds a broker that is a primary, and authenticates. Failures that may pass are waited out with growing pauses; each
/// new reason is told to the log of the session, without the password. On the strand.
class redis_connection {
 public:
  explicit redis_connection(redis_frame_ptr frame);
  ~redis_connection();
  redis_connection(const redis_connection&) = delete;
  redis_connection& operator=(const redis_connection&) = delete;

  /// Notified when the connection has ended. Handlers of replies notify conditions of their own.
  condition& changed() noexcept { return changed_; }

  /// Waits until there is a connection. Errors: `operation_aborted`, that of the session that is over, and
  /// `refused_credentials`, `refused`, `unexpected_reply`; `unavailable` when a try has failed and the time is over.
  awaitable<error_code> ready(lease_clock::time_point until = never);
  bool is_up() const noexcept { return is_ready_ && link_ && link_->is_up(); }
  /// Each connection has another number.
  std::uint64_t number() const noexcept { return number_; }
  /// Handlers are called by the connection of now only.
  void send(const std::vector<std::string>& command, redis_link::reply_handler handler);

  /// Ends the connection because of this, which is told; the next one is made after a pause.
  void give_up(const error_code& why, std::string_view detail);
  void close();
  /// Tells the log what a reply to a command says.
  void tell(log_severity severity, session_event event, const error_code& why, std::string_view detail);
  /// The broker has done what it was asked for: the next pause is the first one again.
  void note_good() { pause_.reset(); }

 private:
  struct greeting;
  struct candidate {
    backend::endpoint at{};  // numeric
    std::string name{};      // as the user wrote it
  };

  awaitable<error_code> try_brokers();
  awaitable<error_code> try_broker(candidate broker);
  void refresh_certificates();
  std::optional<backend::tls_context::connection> secure(const candidate& broker) const;
  awaitable<error_code> await_link(lease_clock::time_point deadline);
  awaitable<error_code> greet(lease_clock::time_point deadline);
  void note_answer(greeting& of, std::size_t step, const redisReply* reply);
  awaitable<std::vector<candidate>> resolve();
  void tell_failure(const error_code& why, std::string_view detail);
  std::chrono::milliseconds timeout() const { return frame_->options.timeout; }

  redis_frame_ptr frame_;
  log_hook log_;
  condition changed_;
  back_off pause_;
  std::shared_ptr<redis_link> link_;
  bool is_ready_ = false;
  bool is_fresh_ = true;  // no pause before the next try
  std::uint64_t number_ = 0;
  std::string server_;  // of the log
  std::string told_;    // the last reason that was told
  std::string last_detail_;
};

}  // namespace zkrecipes::detail
