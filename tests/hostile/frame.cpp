#include "hostile/frame.hpp"

#include <boost/endian/buffers.hpp>

namespace zkrecipes::test::frame {

namespace {

constexpr std::int32_t of_watch = -1;

}  // namespace

std::string int32(std::int32_t value) {
  const boost::endian::big_int32_buf_t bytes(value);
  return {reinterpret_cast<const char*>(bytes.data()), 4};
}

std::string int64(std::int64_t value) {
  const boost::endian::big_int64_buf_t bytes(value);
  return {reinterpret_cast<const char*>(bytes.data()), 8};
}

std::string text(std::string_view value) { return int32(static_cast<std::int32_t>(value.size())) + std::string(value); }

std::string framed(std::string_view body) { return text(body); }

std::string head(std::int32_t xid, std::int32_t error, std::int64_t zxid) {
  return int32(xid) + int64(zxid) + int32(error);
}

std::string stat() { return std::string(68, '\0'); }

std::string part(std::int32_t type, bool is_done, std::int32_t error) {
  return int32(type) + std::string(1, is_done ? '\1' : '\0') + int32(error);
}

std::string event(std::int32_t type, std::int32_t state, std::string_view path) {
  return framed(head(of_watch, 0, -1) + int32(type) + int32(state) + text(path));
}

std::string granted(std::int64_t id, std::int32_t timeout_ms) {
  return framed(int32(0) + int32(timeout_ms) + int64(id) + text(std::string(16, 'p')) + std::string(1, '\0'));
}

}  // namespace zkrecipes::test::frame
