#include "cluster/session_password.hpp"

#include <charconv>

#include "failure.hpp"

namespace zkadmin {
namespace {

/// java.util.Random, as its documentation defines it.
class java_random {
 public:
  explicit java_random(std::int64_t seed) : state_((static_cast<std::uint64_t>(seed) ^ factor) & mask) {}
  std::uint32_t next() {
    state_ = (state_ * factor + 0xb) & mask;
    return static_cast<std::uint32_t>(state_ >> 16);
  }

 private:
  static constexpr std::uint64_t factor = 0x5deece66d;
  static constexpr std::uint64_t mask = (std::uint64_t{1} << 48) - 1;
  std::uint64_t state_;
};

constexpr std::int64_t constant_of_servers = 0xb3415c00;
constexpr int words_of_password = 4;

}  // namespace

std::string password_of(std::int64_t session) {
  java_random random(session ^ constant_of_servers);
  std::string password;
  for (int i = 0; i < words_of_password; ++i) {
    auto word = random.next();
    for (int j = 0; j < 4; ++j, word >>= 8) password += static_cast<char>(word & 0xff);
  }
  return password;
}

std::int64_t parse_session(const std::string& text) {
  const auto digits = text.starts_with("0x") ? text.substr(2) : text;
  std::uint64_t id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id, 16);
  if (error != std::errc() || end != digits.data() + digits.size() || id == 0)
    throw failure(exit_code::usage, "SESSION: expected a session id in hex, such as 0x1000049e4070001");
  return static_cast<std::int64_t>(id);
}

}  // namespace zkadmin
