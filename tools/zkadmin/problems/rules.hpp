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
#include "problems/problem.hpp"
#include "settings/limits.hpp"

namespace zkadmin {

/// The problems of the transactions at one path.
problem_list problems_of(const commit_status& commit, const problem_limits& limits = {});

// The problems of queues.

/// The problems of one queue.
problem_list problems_of(const queue_status& queue, const problem_limits& limits = {});

// The problems of topics.

/// The problems of one topic, each with the groups of consumers that have it.
problem_list problems_of(const topic_status& topic, const problem_limits& limits = {});

// The problems of shard groups.

/// The problems of one group.
problem_list problems_of(const group_status& group, const problem_limits& limits = {});

// The places of a line, by ids and sessions.

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

// The problems of elections.

/// The problems of one election.
problem_list problems_of(const election_status& election, const problem_limits& limits = {});

/// Whether the deadline of a hand-over has been over for longer than the limit.
bool is_late(const hand_over_status& hand_over, const problem_limits& limits = {}) noexcept;

// The problems of recipes of any kind.

// The problems of sources of messages outside of ZooKeeper.

/// The problems of one source: those that ZooKeeper tells, and those that its broker tells, if it was asked.
problem_list problems_of(const stream_status& stream, const problem_limits& limits = {});

/// The problems of one recipe: those of its kind, if it has rules of its own, and else those of all kinds.
problem_list problems_of(const recipe_status& status, const problem_limits& limits = {});

}  // namespace zkadmin
