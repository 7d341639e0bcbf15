// The memory of what rabbitmq-c decodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <amqp.h>
#include <amqp_framing.h>

namespace zkrecipes::detail {

// Numbers and texts between AMQP's form and ours.

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

/// What was decoded last refers to it, and to the bytes that were decoded.
class amqp_memory {
 public:
  amqp_memory() { init_amqp_pool(&pool_, page_size); }
  ~amqp_memory() { empty_amqp_pool(&pool_); }
  amqp_memory(const amqp_memory&) = delete;
  amqp_memory& operator=(const amqp_memory&) = delete;

  /// Null: the arguments are not those of this method. Their tables must have been checked.
  template <class Method>
  const Method* method(std::uint32_t number, std::string_view arguments) {
    void* made = nullptr;
    recycle_amqp_pool(&pool_);
    const int status = amqp_decode_method(number, &pool_, bytes_of(arguments), &made);
    return status < 0 ? nullptr : static_cast<const Method*>(made);
  }
  /// Null: they are not those of a message. Their headers must have been checked.
  const amqp_basic_properties_t* properties(std::string_view encoded) {
    void* made = nullptr;
    recycle_amqp_pool(&pool_);
    const int status = amqp_decode_properties(AMQP_BASIC_CLASS, &pool_, bytes_of(encoded), &made);
    return status < 0 ? nullptr : static_cast<const amqp_basic_properties_t*>(made);
  }

 private:
  static constexpr std::size_t page_size = 4096;

  amqp_pool_t pool_;
};

}  // namespace zkrecipes::detail
