// What `group drain`, `undrain`, `transfer` and `unpin` are asked for.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace zkadmin {

/// How an intervention is followed to its end.
struct wait_options {
  bool wait = false;
  std::optional<std::chrono::milliseconds> limit{};  ///< For how long; nothing: a minute.
};

struct group_request {
  std::string member;  ///< Its id.
  std::uint32_t shard = 0;
  wait_options how{};
};

}  // namespace zkadmin
