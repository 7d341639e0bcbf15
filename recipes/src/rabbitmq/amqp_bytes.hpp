// Numbers and texts between AMQP's form and ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <amqp.h>

namespace zkrecipes::detail {

/// The lengths of some texts of AMQP have one byte.
inline constexpr std::size_t most_short_text = 255;

/// rabbitmq-c does not write through this pointer.
inline amqp_bytes_t bytes_of(std::string_view text) { return {text.size(), const_cast<char*>(text.data())}; }

inline std::string_view text_of(const amqp_bytes_t& bytes) {
  return bytes.len == 0 ? std::string_view() : std::string_view(static_cast<const char*>(bytes.bytes), bytes.len);
}

/// A number of so many bytes, the highest first, at this place, which must be in the text.
inline std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t size) {
  std::uint64_t number = 0;
  for (const auto each : text.substr(at, size)) number = number << 8 | static_cast<unsigned char>(each);
  return number;
}

inline void put_number(std::string& into, std::size_t at, std::uint64_t number, std::size_t size) {
  for (auto left = size; left > 0; number >>= 8) into[at + --left] = static_cast<char>(number & 0xff);
}

}  // namespace zkrecipes::detail
