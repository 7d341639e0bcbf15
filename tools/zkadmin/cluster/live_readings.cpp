#include "cluster/live_readings.hpp"

#include <variant>

#include "cluster/election_reader.hpp"

namespace zkadmin {
namespace {

using std::chrono::milliseconds;

void grow_older(std::monostate, milliseconds) {}
void grow_older(group_status&, milliseconds) {}   // followed elsewhere
void grow_older(stream_status&, milliseconds) {}  // no broker is asked for what is followed

}  // namespace

void grow_older(topic_status& topic, milliseconds by) {
  for (auto& group : topic.groups)
    for (auto& shard : group.behind) shard.oldest += by;
}

void grow_older(commit_status& commit, milliseconds by) {
  for (auto& each : commit.undecided) each.age += by;
}

void grow_older(queue_status& queue, milliseconds by) {
  if (queue.items > 0) queue.oldest += by;
}

void grow_older(recipe_status& recipe, milliseconds by) {
  if (recipe.age) *recipe.age += by;
  for (auto& each : recipe.participants)
    if (each.age) *each.age += by;
  for (auto& each : recipe.facts)
    if (auto* since = std::get_if<milliseconds>(&each.value); since && each.name != "period_length") *since += by;
  std::visit([by](auto& original) { grow_older(original, by); }, recipe.original);
}

}  // namespace zkadmin
