// All that one look at a cluster has found.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/commit_status.hpp"
#include "cluster/group_status.hpp"
#include "cluster/queue_status.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/status.hpp"
#include "cluster/topic_status.hpp"

namespace zkadmin {

/// The kinds of things to look at.
struct wanted_kinds {
  bool servers = true;
  bool elections = true;
  bool groups = true;
  bool topics = true;
  bool commits = true;
  bool queues = false;  ///< Those that the setting `queues` declares.
  bool recipes = true;  ///< All others: locks, semaphores, barriers, queues, services, ...

  /// Whether any kind but the servers is among them.
  bool has_recipes() const noexcept { return elections || groups || topics || commits || queues || recipes; }
};

/// A survey that is missing: nothing is known of that kind, or it was not asked for.
struct findings {
  std::vector<server_status> servers{};
  std::optional<election_survey> elections{};
  std::optional<group_survey> groups{};
  std::optional<topic_survey> topics{};
  std::optional<commit_survey> commits{};
  std::optional<queue_survey> queues{};
  std::optional<recipe_survey> recipes{};
  std::string trouble{};  ///< Why a survey that was asked for is missing.
};

}  // namespace zkadmin
