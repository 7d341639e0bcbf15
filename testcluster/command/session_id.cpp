#include "session_id.hpp"

#include <charconv>

namespace testcluster::command {

std::optional<std::int64_t> parse_session(const std::string& text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const char* begin = text.data() + (hex ? 2 : 0);
  const char* end = text.data() + text.size();
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(begin, end, number, hex ? 16 : 10);
  if (parsed.ec != std::errc{} || parsed.ptr != end || number == 0) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

}  // namespace testcluster::command
