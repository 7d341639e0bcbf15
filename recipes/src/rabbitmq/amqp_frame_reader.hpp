// Finds the frames in the bytes of a broker.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "rabbitmq/amqp_frame.hpp"

namespace zkrecipes::detail {

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
