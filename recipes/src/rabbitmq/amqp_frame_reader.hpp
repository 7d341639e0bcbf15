// Finds the frames in the bytes of a broker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
