#include "settings/recipe_kind.hpp"

#include <algorithm>

namespace zkadmin {
namespace {

constexpr recipe recipes[] = {
    recipe::election,       recipe::shard_group,    recipe::topic,           recipe::two_phase_commit, recipe::lock,
    recipe::semaphore,      recipe::barrier,        recipe::double_barrier,  recipe::read_write_lock,  recipe::queue,
    recipe::service,        recipe::membership,     recipe::persistent_node, recipe::shared_gate,      recipe::once_per,
    recipe::shared_balance, recipe::shared_limiter, recipe::stream};

}  // namespace

std::span<const recipe> all_recipes() noexcept { return recipes; }

std::span<const recipe> other_recipes() noexcept {
  constexpr std::size_t with_own_surveys = 4;  // They stand first.
  return std::span(recipes).subspan(with_own_surveys);
}

const char* to_string(recipe which) noexcept {
  switch (which) {
    case recipe::none: return "none";
    case recipe::election: return "election";
    case recipe::shard_group: return "shard group";
    case recipe::topic: return "topic";
    case recipe::two_phase_commit: return "two-phase commit";
    case recipe::lock: return "lock";
    case recipe::read_write_lock: return "read-write lock";
    case recipe::semaphore: return "semaphore";
    case recipe::barrier: return "barrier";
    case recipe::double_barrier: return "double barrier";
    case recipe::queue: return "queue";
    case recipe::membership: return "membership";
    case recipe::service: return "service";
    case recipe::persistent_node: return "persistent node";
    case recipe::shared_gate: return "shared gate";
    case recipe::once_per: return "once per period";
    case recipe::shared_balance: return "shared balance";
    case recipe::shared_limiter: return "shared limiter";
    case recipe::stream: return "stream";
  }
  return "none";
}

std::string identifier_of(recipe which) {
  std::string text = to_string(which);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return text;
}

std::optional<recipe> recipe_named(std::string_view name) {
  std::string wanted(name);
  std::replace_if(
      wanted.begin(), wanted.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  for (const auto each : recipes)
    if (identifier_of(each) == wanted) return each;
  return std::nullopt;
}

std::string recipe_names() {
  std::string all;
  for (const auto each : recipes) all += (all.empty() ? "" : ", ") + identifier_of(each);
  return all;
}

}  // namespace zkadmin
