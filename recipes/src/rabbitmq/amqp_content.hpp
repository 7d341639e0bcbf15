// A message as its frames come: the method that announces it, its properties, its data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rabbitmq/amqp_frame_reader.hpp"

namespace zkrecipes::detail {

inline constexpr auto first_header = "zkr-first";

/// A message as the broker delivers it.
struct amqp_delivery {
  std::uint64_t tag = 0;        ///< The delivery tag: valid on this connection only.
  bool is_redelivered = false;  ///< The flag is set, or `returns` is more than 0.
  std::uint64_t returns = 0;    ///< How often it has come back: `x-delivery-count`.
  std::string id{};             ///< The property `message_id`; empty: none.
  std::string key{};            ///< The header `rabbit_options::key_header`, if it is a string.
  std::string data{};
  std::int64_t timestamp = 0;  ///< Milliseconds since 1970; 0: none.
  std::uint64_t first = 0;     ///< The header `first_header`, see `message_number::first`; 0: none.
  std::string problem{};       ///< Why it can not be processed; empty: it can.
};

/// A message of more than 128 MiB has a problem, and only the first of them are kept; so has one whose properties or
/// headers can not be read. The memory grows with the bytes that have come, not with those that are announced.
class amqp_content {
 public:
  explicit amqp_content(std::string key_header) : key_header_(std::move(key_header)) {}

  /// A message for the consumer begins.
  void begin_delivery(std::uint64_t tag, bool is_redelivered);
  /// One of ours that comes back begins. Nothing of its data is kept.
  void begin_return();
  /// Takes the next frame that is no method. Error: `unexpected_reply`.
  amqp_problem take(const amqp_frame& frame);

  /// More frames belong to it.
  bool is_open() const noexcept { return awaited_ != part::none; }
  bool is_return() const noexcept { return is_return_; }
  /// What has come, when it is not open any more.
  amqp_delivery take_out();

 private:
  enum class part { none, head, body };

  void begin(bool is_return);
  amqp_problem take_head(std::string_view payload);
  /// Returns why they can not be read.
  std::string record_properties(std::string_view encoded);
  void record_header(const amqp_value& header);
  amqp_problem take_body(std::string_view payload);

  std::string key_header_;
  amqp_memory memory_;
  part awaited_ = part::none;
  bool is_return_ = false;
  std::uint64_t left_ = 0;  // bytes of data that have not come
  amqp_delivery message_;
};

}  // namespace zkrecipes::detail
