// How a connection to RabbitMQ begins.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rabbitmq/amqp_frame_reader.hpp"

struct amqp_basic_properties_t_;

namespace zkrecipes::detail {

/// Makes the frames for a broker.
/// They stand in a buffer until they are taken. rabbitmq-c encodes what is in them.
class amqp_writer {
 public:
  /// The largest frame that the broker takes.
  void limit(std::size_t frame_max) noexcept { frame_max_ = frame_max; }

  /// The bytes that a client begins with.
  void protocol();
  /// `fields`: the struct of rabbitmq-c for this method. `texts`: the bytes of its texts and tables, at least. False:
  /// the frame would be too large, and is not there.
  bool method(std::uint16_t channel, std::uint32_t number, void* fields, std::size_t texts = 0);
  /// The properties and the data of a message, behind the method that announces them. `texts`: as above. False: the
  /// properties are too large, and there is neither.
  bool content(std::uint16_t channel, amqp_basic_properties_t_& properties, std::size_t texts, std::string_view data);
  void heartbeat();

  std::size_t size() const noexcept { return bytes_.size(); }
  /// Removes what was added since there were so many bytes.
  void cut(std::size_t size) { bytes_.resize(size); }
  std::string take();

 private:
  std::size_t begin(std::size_t room);
  bool end(std::size_t begin, std::uint8_t type, std::uint16_t channel, std::size_t payload);
  void add_body(std::uint16_t channel, std::string_view data);

  std::string bytes_;
  std::size_t frame_max_ = 4096;  // the least that each broker takes
};

/// What a connection to RabbitMQ begins with.
struct amqp_settings {
  std::string user{};
  std::string password{};
  std::string virtual_host = "/";
  std::chrono::seconds heartbeat{10};  ///< Time after which a side that is silent is lost; 1 s to 10 min.
  std::string key_header = "key";      ///< The header of a message that has its key.
};

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

  void record_version(const amqp_table_t& properties);
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
