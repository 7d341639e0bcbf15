#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace testcluster::jute {

/// Builds one frame: four bytes of length, then the fields in order, big-endian.
class writer {
 public:
  writer& int32(std::int32_t value);
  writer& int64(std::int64_t value);
  writer& boolean(bool value);
  writer& string(std::string_view value);
  std::string frame() const;

 private:
  std::string body_;
};

}  // namespace testcluster::jute
