#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace testcluster::jute {

/// Reads the fields of one frame's body. Throws testcluster::error if the body ends too early.
class reader {
 public:
  explicit reader(std::string_view body) : rest_(body) {}
  std::int32_t int32();
  std::int64_t int64();
  std::string string();

 private:
  std::uint64_t big_endian(std::size_t bytes);
  std::string_view rest_;
};

}  // namespace testcluster::jute
