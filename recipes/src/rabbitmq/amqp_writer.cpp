#include "rabbitmq/amqp_writer.hpp"

#include <algorithm>
#include <utility>

#include <amqp.h>
#include <amqp_framing.h>

#include "rabbitmq/amqp_bytes.hpp"
#include "rabbitmq/amqp_frame.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::size_t other_fields = 64;  // numbers, flags, and lengths of texts

}  // namespace

void amqp_writer::protocol() { bytes_ += std::string_view("AMQP\0\0\x09\x01", 8); }

/// Makes room for the payload of a frame, and returns where the frame begins.
std::size_t amqp_writer::begin(std::size_t room) {
  const auto at = bytes_.size();
  bytes_.resize(at + amqp_frame_excess + room);
  return at;
}

bool amqp_writer::end(std::size_t begin, std::uint8_t type, std::uint16_t channel, std::size_t payload) {
  const bool is_good = payload + amqp_frame_excess <= frame_max_;
  bytes_.resize(is_good ? begin + amqp_frame_excess + payload : begin);
  if (!is_good) return false;
  put_number(bytes_, begin, type, 1);
  put_number(bytes_, begin + 1, channel, 2);
  put_number(bytes_, begin + 3, payload, 4);
  put_number(bytes_, begin + amqp_frame_head + payload, AMQP_FRAME_END, 1);
  return true;
}

bool amqp_writer::method(std::uint16_t channel, std::uint32_t number, void* fields, std::size_t texts) {
  const auto room = other_fields + texts;
  const auto at = begin(amqp_method_head + room);
  put_number(bytes_, at + amqp_frame_head, number, amqp_method_head);
  const amqp_bytes_t into{room, bytes_.data() + at + amqp_frame_head + amqp_method_head};
  const int size = amqp_encode_method(number, fields, into);
  const auto payload = size < 0 ? frame_max_ : amqp_method_head + static_cast<std::size_t>(size);
  return end(at, AMQP_FRAME_METHOD, channel, payload);
}

bool amqp_writer::content(std::uint16_t channel, amqp_basic_properties_t_& properties, std::size_t texts,
                          std::string_view data) {
  const auto room = other_fields + texts;
  const auto at = begin(amqp_content_head + room);
  put_number(bytes_, at + amqp_frame_head, AMQP_BASIC_CLASS, 2);
  put_number(bytes_, at + amqp_frame_head + 2, 0, 2);
  put_number(bytes_, at + amqp_frame_head + 4, data.size(), 8);
  const amqp_bytes_t into{room, bytes_.data() + at + amqp_frame_head + amqp_content_head};
  const int size = amqp_encode_properties(AMQP_BASIC_CLASS, &properties, into);
  const auto payload = size < 0 ? frame_max_ : amqp_content_head + static_cast<std::size_t>(size);
  if (!end(at, AMQP_FRAME_HEADER, channel, payload)) return false;
  add_body(channel, data);
  return true;
}

/// A message without data has no such frame.
void amqp_writer::add_body(std::uint16_t channel, std::string_view data) {
  while (!data.empty()) {
    const auto size = std::min(data.size(), frame_max_ - amqp_frame_excess);
    const auto at = begin(size);
    data.copy(bytes_.data() + at + amqp_frame_head, size);
    end(at, AMQP_FRAME_BODY, channel, size);
    data.remove_prefix(size);
  }
}

void amqp_writer::heartbeat() { end(begin(0), AMQP_FRAME_HEARTBEAT, 0, 0); }

std::string amqp_writer::take() { return std::exchange(bytes_, {}); }

}  // namespace zkrecipes::detail
