// SipHash with a result of 128 bits (Aumasson and Bernstein): without the secret nobody can make two inputs of one
// hash.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <zkrecipes/detail/gate_key.hpp>

namespace zkrecipes::detail {

/// `Inner` rounds for each 8 bytes and `Final` rounds for each half of the result, as in SipHash-2-4 or SipHash-1-3.
template <int Inner, int Final>
class sip_hash {
 public:
  explicit sip_hash(const gate_key& secret) noexcept
      : v0_(secret.low ^ 0x736f6d6570736575),
        v1_(secret.high ^ 0x646f72616e646f6d ^ 0xee),
        v2_(secret.low ^ 0x6c7967656e657261),
        v3_(secret.high ^ 0x7465646279746573) {}

  gate_key operator()(std::string_view input) && noexcept {
    const char* at = input.data();
    std::size_t left = input.size();
    for (; left >= 8; left -= 8, at += 8) take(word(at, 8));
    take(word(at, left) | static_cast<std::uint64_t>(input.size()) << 56);
    v2_ ^= 0xee;
    gate_key result;
    result.low = half();
    v1_ ^= 0xdd;
    result.high = half();
    return result;
  }

 private:
  /// The first of these bytes is the lowest of the number.
  static std::uint64_t word(const char* from, std::size_t so_many) noexcept {
    std::uint64_t value = 0;
    if constexpr (std::endian::native == std::endian::little) {
      if (so_many == 8) {
        std::memcpy(&value, from, 8);
        return value;
      }
    }
    for (std::size_t i = 0; i < so_many; ++i) {
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(from[i])) << (8 * i);
    }
    return value;
  }
  void take(std::uint64_t word) noexcept {
    v3_ ^= word;
    for (int i = 0; i < Inner; ++i) round();
    v0_ ^= word;
  }
  std::uint64_t half() noexcept {
    for (int i = 0; i < Final; ++i) round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }
  void round() noexcept {
    v0_ += v1_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v3_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ += v3_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ += v1_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v2_ = std::rotl(v2_, 32);
  }

  std::uint64_t v0_, v1_, v2_, v3_;
};

}  // namespace zkrecipes::detail
