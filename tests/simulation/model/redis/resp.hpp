// Replies in the protocol of Redis (RESP2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zkrecipes::simulation::resp {

inline std::string line(char kind, std::string_view text) { return kind + std::string(text) + "\r\n"; }
inline std::string status(std::string_view text) { return line('+', text); }
/// `text`: its first word is the kind of the error.
inline std::string error(std::string_view text) { return line('-', text); }
inline std::string number(std::int64_t value) { return line(':', std::to_string(value)); }
inline std::string text(std::string_view bytes) {
  return line('$', std::to_string(bytes.size())) + std::string(bytes) + "\r\n";
}
inline std::string nothing() { return "*-1\r\n"; }
/// `parts`: replies.
inline std::string list(const std::vector<std::string>& parts) {
  auto all = line('*', std::to_string(parts.size()));
  for (const auto& each : parts) all += each;
  return all;
}

}  // namespace zkrecipes::simulation::resp
