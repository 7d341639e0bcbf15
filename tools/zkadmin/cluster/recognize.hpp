// Recognizes recipes by the names and the data of nodes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zkadmin {

/// A candidate's node as Curator's LeaderLatch names it: `_c_<guid>-latch-<10 digits>`.
bool is_candidate_name(std::string_view name) noexcept;

/// Whether zkrecipes, Curator or kazoo use this name only for members of a waiting line, or for items, claims and
/// similar nodes of a queue: there is no election at or below such a node.
bool is_leaf_name(std::string_view name) noexcept;

/// The name of a permit that is taken, as Curator's InterProcessSemaphoreV2 writes it: `_c_<guid>-lease-<10 digits>`.
bool is_lease_name(std::string_view name) noexcept;

/// The part of a name before the server's sequence number; empty if the name does not end in ten digits.
std::string_view before_sequence(std::string_view name) noexcept;

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

/// The recipe that has written this data into its own node: a JSON object whose field "zkrecipes" names its kind. An
/// election has such data once a client of zkrecipes has led.
recipe recipe_of(std::string_view data);

/// Whether a recipe of zkrecipes has written this data: a JSON object whose field "zkrecipes" is a text.
bool is_record(std::string_view data);

/// The recipe to which most of these names of children belong, or none. A `lock` may be an election with the names of
/// LeaderSelector or of kazoo as well, or kazoo's WriteLocks.
recipe recipe_among(const std::vector<std::string>& children);

/// Whether the recipe uses this name for a child of its own node, at and below which no other recipe is.
bool is_part_of(recipe which, std::string_view name) noexcept;

}  // namespace zkadmin
