// What a member of a shard group does at the moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/coordinator_status.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

/// One shard at this member.
struct shard_status {
  std::uint32_t number = 0;
  /// `taking_over` until the owner before has given it up or is gone; then the phases of a term.
  coordinator_phase phase = coordinator_phase::idle;
  lease_clock::time_point since{};  ///< When the phase began.
  std::int64_t epoch = 0;           ///< That of our last term; 0: there was none.
  std::uint64_t failures = 0;       ///< Those of its career, its factory and its take-overs, and a quarantine.
  std::string last_failure{};
};

/// The state of a member, as it knows it without asking a server.
struct shard_group_status {
  std::string member{};     ///< The name of our node while we are in the group.
  bool is_planner = false;  ///< Whether this member plans for all.
  /// Why it can not plan, or stand for planner, at the moment. It tries again every 30 s at the latest.
  error_code planner_error{};
  /// Why it is not in the group, while it is waited until people mend it (`no_auth`, say), or a server is less busy.
  error_code trouble{};
  bool is_draining = false;
  /// Why this member asks for no shards at the moment: the last failure, if most of its shards fail. Empty: it asks.
  std::string failing{};
  std::int64_t plan = 0;               ///< The number of the plan that our orders are of.
  std::vector<shard_status> shards{};  ///< Those that we own, are to own, or are giving up, by number.
};

}  // namespace zkrecipes
