// The fields of a frame of a server, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <boost/endian/conversion.hpp>

namespace zkrecipes::backend {

/// Takes fields off the front of a text. When one does not fit in, it and all later ones are empty, and `is_good` is
/// false.
class answer_reader {
 public:
  explicit answer_reader(std::string_view left) : left_(left) {}

  bool is_good() const noexcept { return is_good_; }
  std::string_view left() const noexcept { return left_; }

  std::string_view bytes(std::size_t size) {
    is_good_ = is_good_ && size <= left_.size();
    if (!is_good_) return {};
    const auto taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::int32_t int32() {
    const auto taken = bytes(4);
    return is_good_ ? boost::endian::load_big_s32(at(taken)) : 0;
  }

  std::int64_t int64() {
    const auto taken = bytes(8);
    return is_good_ ? boost::endian::load_big_s64(at(taken)) : 0;
  }

  /// A text behind its length.
  std::string_view text() {
    const auto size = int32();
    is_good_ = is_good_ && size >= 0;
    return bytes(is_good_ ? static_cast<std::size_t>(size) : 0);
  }

  /// Bytes behind their number, which is -1 for none.
  void data() {
    auto size = int32();
    if (size == -1) size = 0;
    is_good_ = is_good_ && size >= 0;
    bytes(is_good_ ? static_cast<std::size_t>(size) : 0);
  }

 private:
  static const unsigned char* at(std::string_view taken) {
    return reinterpret_cast<const unsigned char*>(taken.data());
  }

  std::string_view left_;
  bool is_good_ = true;
};

}  // namespace zkrecipes::backend
