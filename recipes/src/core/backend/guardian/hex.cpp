#include "backend/guardian/hex.hpp"

#include <array>
#include <charconv>

namespace zkrecipes::backend {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

}  // namespace

std::string to_hex(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto high = digits.find(text[i]);
    const auto low = digits.find(text[i + 1]);
    if (high == digits.npos || low == digits.npos) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

std::string session_to_hex(std::int64_t id) {
  std::array<char, 16> text{};
  const auto end = std::to_chars(text.begin(), text.end(), static_cast<std::uint64_t>(id), 16).ptr;
  return {text.begin(), end};
}

std::optional<std::int64_t> session_from_hex(std::string_view text) {
  if (text.empty() || text.size() > 16 || text.find_first_not_of(digits) != text.npos) return std::nullopt;
  std::uint64_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id, 16);
  return id != 0 ? std::optional(static_cast<std::int64_t>(id)) : std::nullopt;
}

}  // namespace zkrecipes::backend
