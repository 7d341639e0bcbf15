// The problems of recipes, by kind.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "cluster/commit.hpp"
#include "cluster/group.hpp"
#include "cluster/queue.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/status.hpp"
#include "cluster/stream.hpp"
#include "cluster/topic.hpp"
#include "problems/verdict.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// The problems of the transactions at one path.
problem_list problems_of(const commit_status& commit, const problem_limits& limits = {});

problem_list problems_of(const queue_status& queue, const problem_limits& limits = {});

/// Each with the groups of consumers that have it.
problem_list problems_of(const topic_status& topic, const problem_limits& limits = {});

problem_list problems_of(const group_status& group, const problem_limits& limits = {});

problem_list problems_of(const election_status& election, const problem_limits& limits = {});

/// Those that ZooKeeper tells of a source of messages outside of it, and those that its broker tells, if it was asked.
problem_list problems_of(const stream_status& stream, const problem_limits& limits = {});

/// Those of the recipe's kind, if it has rules of its own, and else those of all kinds.
problem_list problems_of(const recipe_status& status, const problem_limits& limits = {});

/// Whether the deadline of a hand-over has been over for longer than the limit.
bool is_late(const hand_over_status& hand_over, const problem_limits& limits = {}) noexcept;

/// The places of a line, by ids and sessions.
class line_places {
 public:
  /// One place. Those without an id, with the one that all have by default, or of long ago, tell nothing of who comes
  /// again: several living processes may have one id.
  void add(const std::string& id, std::int64_t session, std::optional<std::chrono::milliseconds> age = {});
  /// `is_single`: a session is to have one place at most.
  void judge(const std::string& path, bool is_single, problem_list& into) const;

 private:
  std::map<std::string, std::set<std::int64_t>> sessions_{};  // young ones, by id
  std::set<std::int64_t> seen_{};
  std::set<std::string> twice_{};  // ids of those whose session has another place
};

}  // namespace zkadmin
