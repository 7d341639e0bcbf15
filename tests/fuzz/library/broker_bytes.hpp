// Bytes of RabbitMQ, made of the input of a fuzzer.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "fuzz/target.hpp"
#include "rabbit/server_bytes.hpp"
#include "rabbitmq/amqp_handshake.hpp"

namespace fuzz {

inline constexpr std::string_view broker_password = "sesame street";

inline zkrecipes::detail::amqp_settings broker_settings() {
  zkrecipes::detail::amqp_settings all;
  all.user = "smith";
  all.password = broker_password;
  all.virtual_host = "shop";
  return all;
}

/// A byte of the input, and as many as it tells, or all that are left.
inline std::string_view take_counted(std::string_view& input) {
  const std::size_t size = take_byte(input);
  const auto taken = input.substr(0, size);
  input.remove_prefix(taken.size());
  return taken;
}

/// Frames with good heads and ends, so that changes of an input reach what is in them. Each is a byte for its type and
/// its channel, a byte for the size of its payload, and the payload.
inline std::string frames_of(std::string_view input) {
  constexpr std::array<std::uint8_t, 4> types{1, 2, 3, 8};
  std::string bytes;
  while (!input.empty()) {
    const unsigned kind = take_byte(input);
    const auto channel = static_cast<std::uint16_t>(kind / 4 % 2);
    bytes += zkrecipes::test::wire::frame(types[kind % 4], channel, std::string(take_counted(input)));
  }
  return bytes;
}

/// The sizes of the pieces in which bytes come, by a byte of the input.
inline std::size_t piece_size(unsigned choice) { return 1 + choice % 32; }
inline constexpr std::size_t in_one_piece = std::numeric_limits<std::size_t>::max();

template <class Take>
void cut(std::string_view bytes, std::size_t piece, Take take) {
  while (!bytes.empty()) {
    const auto size = std::min(piece, bytes.size());
    take(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
}

}  // namespace fuzz
