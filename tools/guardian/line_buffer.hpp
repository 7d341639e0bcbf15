#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace guardian {

/// Cuts what arrives into lines. What was read is overwritten, because it may hold secrets.
class line_buffer {
 public:
  ~line_buffer();

  void add(std::string_view arrived);
  /// The next whole line, without its newline, valid until the next call. Nothing if there is none.
  std::optional<std::string_view> next();
  /// More has arrived than a line may have.
  bool is_too_long() const noexcept;

 private:
  void forget_read();

  std::string text_;
  std::size_t read_ = 0;      // so much of it was handed out
  std::size_t searched_ = 0;  // up to here there is no newline behind what was handed out
};

}  // namespace guardian
