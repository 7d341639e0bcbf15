// Finds the frames in the bytes of a broker, and decodes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <zkrecipes/error.hpp>

#include "rabbitmq/rabbitmq_c.hpp"

namespace zkrecipes::detail {

/// Why a connection to RabbitMQ has to end; without an error it goes on.
struct amqp_problem {
  error_code error{};
  std::string words{};
};

inline constexpr std::size_t amqp_frame_head = 7;     ///< Type, channel and size.
inline constexpr std::size_t amqp_frame_excess = 8;   ///< The head, and one byte at the end.
inline constexpr std::size_t amqp_method_head = 4;    ///< Class and method.
inline constexpr std::size_t amqp_content_head = 12;  ///< Class, weight, and size of the data.

/// A frame of AMQP 0-9-1 as it came: AMQP_FRAME_METHOD, AMQP_FRAME_HEADER, AMQP_FRAME_BODY, AMQP_FRAME_HEARTBEAT.
struct amqp_frame {
  std::uint8_t type = 0;
  std::uint16_t channel = 0;
  std::string_view payload{};
};

/// The content of a frame of the first kind.
struct amqp_method {
  std::uint32_t number = 0;  ///< AMQP_..._METHOD.
  std::uint16_t channel = 0;
  std::string_view arguments{};
};

/// It keeps at most what was added at once, and one frame.
class amqp_frame_reader {
 public:
  enum class result { found, incomplete, broken };

  /// Frames of more bytes are refused, with their head and their end.
  void limit(std::size_t frame_max) noexcept { frame_max_ = frame_max; }
  void add(std::string_view bytes);
  /// The payload is there until bytes are added.
  result next(amqp_frame& into);
  /// Why the bytes are no frames.
  const std::string& problem() const noexcept { return problem_; }

 private:
  result refuse(std::string why);

  std::string bytes_;
  std::size_t begin_ = 0;  // what is before it has been read
  std::size_t frame_max_ = 128 << 10;
  std::string problem_;
};

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

/// The memory of what rabbitmq-c decodes. What was decoded last refers to it, and to the bytes that were decoded.
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
  /// Null: they are not those of a message. They must have no headers.
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

// Tables of AMQP. rabbitmq-c calls itself for each table in a table.

/// A table with its length stands at the beginning, is well-formed, and has no more than 16 levels: it can be decoded.
bool begins_with_table(std::string_view bytes);

/// A value of a table, or of an array, as it stands there. If it is a table or an array, nothing of it was looked at.
struct amqp_value {
  std::string_view name{};  ///< Empty in an array.
  char kind = 0;            ///< AMQP_FIELD_KIND_...
  std::string_view bytes{};
};
/// Cuts the first value off the bytes behind the length of a table, or of an array. Nothing if it can not be read.
std::optional<amqp_value> cut_value(std::string_view& from, bool has_name);

/// The properties of a message.
struct amqp_properties {
  std::string_view headers{};  ///< The values of the table.
  std::string others{};        ///< The properties without it.
};
/// Nothing if they can not be read.
std::optional<amqp_properties> split_headers(std::string_view properties);

}  // namespace zkrecipes::detail
