#include "rabbitmq/unnamed_message.hpp"

#include <charconv>
#include <string_view>

namespace zkrecipes::detail {

namespace {

/// FNV-1a of 64 bits.
void add_to_hash(std::uint64_t& hash, std::string_view bytes) {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (const auto each : bytes) hash = (hash ^ static_cast<unsigned char>(each)) * prime;
}

}  // namespace

std::uint64_t unnamed_message::hash_of(const amqp_delivery& what) {
  std::uint64_t hash = 0xcbf29ce484222325;
  add_to_hash(hash, std::to_string(what.key.size()) + ' ');
  add_to_hash(hash, what.key);
  add_to_hash(hash, what.data);
  return hash;
}

std::string unnamed_message::name(std::uint64_t copy) const {
  char digits[16];
  const auto written = std::to_chars(digits, digits + sizeof digits, hash_, 16);
  return '_' + std::string(digits, written.ptr) + '-' + std::to_string(copy);
}

}  // namespace zkrecipes::detail
