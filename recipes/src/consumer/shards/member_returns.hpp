// How often members of a shard group come back, as a process does that a supervisor starts again and again.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <zkrecipes/lease_clock.hpp>

#include "shards/member_record.hpp"
#include "shards/shard_assignment.hpp"

namespace zkrecipes::detail {

/// A member that comes back under its id gets its shards at once. After the second time in a row, soon after it had
/// joined or without having begun a shard, it is on probation: it gets none before it has stayed for a while. The
/// number stands in the member's orders, too, for the next planner: one that owns a shard has stayed. On the strand.
class member_returns {
 public:
  /// `soon`: a member that was there for less has not proved that it stays.
  explicit member_returns(std::chrono::milliseconds soon) : soon_(soon) {}

  /// Notes who is there, and fills in what is known of them. `next`: when a probation ends, if that is earlier.
  void look(std::vector<listed_member>& members, const std::vector<away_record>& away, lease_clock::time_point now,
            lease_clock::time_point& next);

 private:
  struct incarnation {
    std::string node;
    std::int32_t sequence = 0;
    std::int64_t joined_ms = 0;
    std::int64_t returns = 0;
    bool has_begun = false;     ///< A shard.
    bool has_expected = false;  ///< It was to own some.
    bool is_orderly = false;    ///< Its end.
    lease_clock::time_point first_seen{};
    lease_clock::time_point last_seen{};
  };

  incarnation join(const listed_member& member, lease_clock::time_point now) const;

  std::chrono::milliseconds soon_;
  std::map<std::string, incarnation> last_;  // by id
};

}  // namespace zkrecipes::detail
