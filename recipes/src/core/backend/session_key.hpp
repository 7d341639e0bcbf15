#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace zkrecipes::backend {

/// Identifies the session that a server is to take up again. An id of zero asks for a new session.
struct session_key {
  std::int64_t id = 0;
  std::string password;
  std::chrono::milliseconds timeout{0};
};

}  // namespace zkrecipes::backend
