#pragma once

#include <cstdint>
#include <memory>

#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>

#include "backend/session_key.hpp"

namespace zkrecipes::detail {

/// One ZooKeeper session among those that a session object has during its life.
struct incarnation {
  std::uint64_t number = 0;
  backend::session_key key;
  std::int64_t seen = 0;                ///< The last transaction (zxid) that a server has shown us.
  error_code ended;                     ///< Why it is over: `session_expired` or `closed`.
  lease_clock::time_point lease_end{};  ///< Once it is over: until when its lease would have lasted.
};

using incarnation_ptr = std::shared_ptr<incarnation>;

}  // namespace zkrecipes::detail
