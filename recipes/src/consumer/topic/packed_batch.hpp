// The data of a batch: netstrings (`<length>:<bytes>,`), first a mark, then key and data of each message in turn.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zkrecipes::detail {

class packed_batch {
 public:
  packed_batch();

  /// Bytes of a message in a batch.
  static std::size_t size_of(std::string_view key, std::string_view data);

  void add(std::string_view key, std::string_view data);
  std::size_t count() const noexcept { return count_; }
  /// The length of the data.
  std::size_t bytes() const noexcept { return text_.size(); }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  std::size_t count_ = 0;
};

/// Key and data of each message; they refer to the text. Nothing if the text is not that of a batch.
using unpacked_batch = std::vector<std::pair<std::string_view, std::string_view>>;
std::optional<unpacked_batch> unpack(std::string_view text);

}  // namespace zkrecipes::detail
