#include "writer.hpp"

namespace testcluster::jute {
namespace {

void append(std::string& out, std::uint64_t value, int bytes) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

}  // namespace

writer& writer::int32(std::int32_t value) {
  append(body_, static_cast<std::uint32_t>(value), 4);
  return *this;
}

writer& writer::int64(std::int64_t value) {
  append(body_, static_cast<std::uint64_t>(value), 8);
  return *this;
}

writer& writer::boolean(bool value) {
  body_ += value ? '\1' : '\0';
  return *this;
}

writer& writer::string(std::string_view value) {
  int32(static_cast<std::int32_t>(value.size()));
  body_ += value;
  return *this;
}

std::string writer::frame() const {
  std::string out;
  append(out, body_.size(), 4);
  return out + body_;
}

}  // namespace testcluster::jute
