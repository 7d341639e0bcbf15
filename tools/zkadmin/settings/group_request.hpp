// What `group drain`, `undrain`, `transfer` and `unpin` are asked for.
#pragma once

#include <cstdint>
#include <string>

#include "settings/wait_options.hpp"

namespace zkadmin {

struct group_request {
  std::string member;  ///< Its id.
  std::uint32_t shard = 0;
  wait_options how{};
};

}  // namespace zkadmin
