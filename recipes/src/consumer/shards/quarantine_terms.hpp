// When the quarantines of shards end by themselves.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <zkrecipes/lease_clock.hpp>

#include "group/children_view.hpp"

namespace zkrecipes::detail {

/// A quarantine lasts for a while from when the planner has seen it; a new planner counts anew. Each that follows the
/// one before without progress of the shard lasts twice as long. On the strand.
class quarantine_terms {
 public:
  explicit quarantine_terms(std::chrono::milliseconds calm) : calm_(calm) {}

  struct ended {
    std::string name;  ///< The name of the node.
    std::int32_t version;
  };
  /// Those that are over. `next`: when that will be so of another one, if that is earlier.
  std::vector<ended> look(const children_snapshot& present, lease_clock::time_point now, lease_clock::time_point& next);

 private:
  std::chrono::milliseconds length_of(const std::string& data) const;

  std::chrono::milliseconds calm_;
  std::map<std::int64_t, lease_clock::time_point> since_;  // by the transaction that made the node
};

}  // namespace zkrecipes::detail
