#include <zkrecipes/redis/redis_streams.hpp>

namespace zkrecipes {

namespace {

const char* text_of(redis_errc value) noexcept {
  switch (value) {
    case redis_errc::unavailable: return "the broker does not serve the stream at present";
    case redis_errc::refused_credentials: return "the broker refuses the credentials, or the user may not do it";
    case redis_errc::refused: return "the broker refuses a command";
    case redis_errc::other_node: return "the stream is on another node of a Redis Cluster";
    case redis_errc::unexpected_reply: return "a reply is not one of Redis";
    case redis_errc::source_regressed: return "the stream has lost entries that were consumed";
  }
  return "unknown error";
}

struct redis_errors final : boost::system::error_category {
  const char* name() const noexcept override { return "zkrecipes.redis"; }
  std::string message(int value) const override { return text_of(static_cast<redis_errc>(value)); }
};

}  // namespace

const boost::system::error_category& redis_category() noexcept {
  static const redis_errors instance;
  return instance;
}

error_code make_error_code(redis_errc value) noexcept { return {static_cast<int>(value), redis_category()}; }

}  // namespace zkrecipes
