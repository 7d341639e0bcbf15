#include "rabbitmq/amqp_frame_reader.hpp"

#include <utility>

#include <amqp.h>
#include <amqp_framing.h>

#include "rabbitmq/amqp_memory.hpp"

namespace zkrecipes::detail {

namespace {

/// What a broker sends that wants another version, before it closes the connection.
constexpr std::string_view other_version = "AMQP";

}  // namespace

void amqp_frame_reader::add(std::string_view bytes) {
  bytes_.erase(0, std::exchange(begin_, 0));
  bytes_ += bytes;
}

amqp_frame_reader::result amqp_frame_reader::next(amqp_frame& into) {
  const auto rest = std::string_view(bytes_).substr(begin_);
  if (rest.starts_with(other_version)) return refuse("the broker does not speak AMQP 0-9-1");
  if (rest.size() < amqp_frame_head) return result::incomplete;
  const auto size = static_cast<std::size_t>(number_at(rest, 3, 4));
  const auto whole = size + amqp_frame_excess;
  if (whole > frame_max_) return refuse("a frame has " + std::to_string(whole) + " bytes");
  if (rest.size() < whole) return result::incomplete;
  if (static_cast<unsigned char>(rest[whole - 1]) != AMQP_FRAME_END) return refuse("a frame has no end");
  into.type = static_cast<std::uint8_t>(rest[0]);
  into.channel = static_cast<std::uint16_t>(number_at(rest, 1, 2));
  into.payload = rest.substr(amqp_frame_head, size);
  begin_ += whole;
  return result::found;
}

amqp_frame_reader::result amqp_frame_reader::refuse(std::string why) {
  problem_ = std::move(why);
  return result::broken;
}

}  // namespace zkrecipes::detail
