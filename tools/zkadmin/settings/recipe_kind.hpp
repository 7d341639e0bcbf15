// The kinds of recipes, and their names.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace zkadmin {

/// The recipes that zkadmin shows.
enum class recipe {
  none,
  election,
  shard_group,
  topic,
  two_phase_commit,
  lock,
  read_write_lock,
  semaphore,
  barrier,
  double_barrier,
  queue,
  membership,
  service,
  persistent_node,
  shared_gate,
  once_per,
  shared_balance,
  shared_limiter,
  stream,  ///< Messages outside of ZooKeeper: streams of Redis, queues of RabbitMQ, or a source of the user's.
};

/// All but `none`, in the order in which they are listed.
std::span<const recipe> all_recipes() noexcept;

/// Those without a survey of their own in the findings: all but elections, groups, topics and two-phase commits.
std::span<const recipe> other_recipes() noexcept;

/// As shown: "lock", "read-write lock", ..., "none".
const char* to_string(recipe which) noexcept;

/// As in files and for programs: "read_write_lock".
std::string identifier_of(recipe which);

/// The recipe of this name. Spaces, dashes and underscores are the same, as in "read_write_lock". Nothing: unknown.
std::optional<recipe> recipe_named(std::string_view name);

/// The names of all recipes: "election, shard_group, ...".
std::string recipe_names();

/// A recipe that the user has declared, because nothing in the tree tells its kind.
struct declared_recipe {
  recipe kind = recipe::none;
  std::string path{};
  friend bool operator==(const declared_recipe&, const declared_recipe&) = default;
};

}  // namespace zkadmin
