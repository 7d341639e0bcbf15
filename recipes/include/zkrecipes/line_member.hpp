// One member of a waiting line, as an operator sees a lock or a semaphore.
#pragma once

#include <cstdint>
#include <string>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// One client in the line of a lock or a similar recipe.
struct line_member {
  std::string id;          ///< The name that the member gives itself; foreign clients may have none.
  std::string node;        ///< Its name under the recipe's path.
  std::int64_t token = 0;  ///< The `czxid` of its node.
  std::int64_t session_id = 0;
  std::int32_t position = 0;  ///< In order of arrival, from 0.
  bool holds = false;         ///< True: it holds the lock. False: it waits.
};

}  // namespace zkrecipes
