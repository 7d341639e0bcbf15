// Who stands in a line: what an operator wants to know of a lock or a semaphore.
#pragma once

#include <cstdint>
#include <string>

namespace zkrecipes {

struct line_member {
  std::string id;             ///< What the member calls itself; foreign clients may have none.
  std::string node;           ///< Its name under the recipe's path.
  std::int64_t token = 0;     ///< The `czxid` of its node.
  std::int64_t session_id = 0;
  std::int32_t position = 0;  ///< In order of arrival, from 0.
  bool holds = false;         ///< It holds the lock; else it waits.
};

}  // namespace zkrecipes
