#include "line_buffer.hpp"

#include <string.h>

#include "backend/guardian/guardian_message.hpp"

namespace guardian {

using zkrecipes::backend::longest_line;

line_buffer::~line_buffer() { ::explicit_bzero(text_.data(), text_.size()); }

void line_buffer::add(std::string_view arrived) {
  forget_read();
  if (text_.capacity() < text_.size() + arrived.size()) {  // copied by us, so that the old memory can be overwritten
    std::string larger;
    larger.reserve(2 * (text_.size() + arrived.size()));
    larger = text_;
    ::explicit_bzero(text_.data(), text_.size());
    text_.swap(larger);
  }
  text_.append(arrived);
}

std::optional<std::string_view> line_buffer::next() {
  const auto end = text_.find('\n', searched_);
  if (end == text_.npos) {
    searched_ = text_.size();
    return std::nullopt;
  }
  const auto line = std::string_view(text_).substr(read_, end - read_);
  read_ = searched_ = end + 1;
  return line;
}

bool line_buffer::is_too_long() const noexcept { return text_.size() - read_ >= longest_line; }

void line_buffer::forget_read() {
  ::explicit_bzero(text_.data(), read_);
  text_.erase(0, read_);
  searched_ -= read_;
  read_ = 0;
}

}  // namespace guardian
