// How a connection to RabbitMQ begins.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "rabbitmq/amqp_frame.hpp"
#include "rabbitmq/amqp_memory.hpp"
#include "rabbitmq/amqp_problem.hpp"
#include "rabbitmq/amqp_settings.hpp"
#include "rabbitmq/amqp_writer.hpp"

namespace zkrecipes::detail {

/// Versions, user and password (PLAIN), sizes and heartbeats, the virtual host, and one channel with the number 1. The
/// password is wiped once it is in the buffer of the writer.
class amqp_handshake {
 public:
  amqp_handshake(amqp_settings settings, amqp_writer& into);
  ~amqp_handshake();
  amqp_handshake(const amqp_handshake&) = delete;
  amqp_handshake& operator=(const amqp_handshake&) = delete;

  void begin();
  /// The broker has taken the next step. Errors: `refused`, `unexpected_reply`.
  amqp_problem take(const amqp_method& step);

  bool is_done() const noexcept { return awaited_ == step::none; }
  /// User and password have been sent, and the broker has not said that they are right.
  bool is_login() const noexcept { return awaited_ == step::tune; }
  /// The most bytes of a frame, with its head and its end.
  std::size_t frame_max() const noexcept { return frame_max_; }
  /// As the broker has told it, such as "3.10.8"; empty: it has not.
  const std::string& version() const noexcept { return version_; }
  /// Its first number; 0: there is none.
  int major_version() const noexcept;
  std::chrono::seconds heartbeat() const noexcept { return settings_.heartbeat; }

 private:
  enum class step { start, tune, open, channel, none };

  void note_version(const amqp_table_t& properties);
  amqp_problem log_in(std::string_view arguments);
  bool send_login();
  amqp_problem tune(std::string_view arguments);
  void open_host();
  void open_channel();

  amqp_settings settings_;
  amqp_writer& writer_;
  amqp_memory memory_;
  step awaited_ = step::start;
  std::string version_;
  std::size_t frame_max_ = 128 << 10;
};

}  // namespace zkrecipes::detail
