// Which hand-out of an item a claim is for.
#pragma once

#include <cstdint>
#include <string>

#include <zkrecipes/queue_base.hpp>

namespace zkrecipes::detail {

/// Identifies one hand-out of an item, because the same object may have handed the item out before, in another session.
struct claim_id {
  explicit claim_id(const message& item) : name(item.name), zxid(item.stat.pzxid) {}

  std::string name;
  std::int64_t zxid;
};

}  // namespace zkrecipes::detail
