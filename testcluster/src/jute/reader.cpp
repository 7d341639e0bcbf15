#include "reader.hpp"

#include <testcluster/error.hpp>

namespace testcluster::jute {

std::uint64_t reader::big_endian(std::size_t bytes) {
  if (rest_.size() < bytes) throw error("a ZooKeeper reply ended too early");
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(rest_[i]);
  rest_.remove_prefix(bytes);
  return value;
}

std::int32_t reader::int32() { return static_cast<std::int32_t>(big_endian(4)); }

std::int64_t reader::int64() { return static_cast<std::int64_t>(big_endian(8)); }

std::string reader::string() {
  const auto size = int32();
  if (size < 0) return {};
  if (rest_.size() < static_cast<std::size_t>(size)) throw error("a ZooKeeper reply ended too early");
  std::string value(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return value;
}

}  // namespace testcluster::jute
