#include "commands/targets.hpp"

#include <algorithm>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "settings/values.hpp"

namespace zkadmin {
namespace {

constexpr std::pair<const char*, bool wanted_kinds::*> kind_names[] = {
    {"servers", &wanted_kinds::servers}, {"elections", &wanted_kinds::elections}, {"groups", &wanted_kinds::groups},
    {"topics", &wanted_kinds::topics},   {"commits", &wanted_kinds::commits},     {"queues", &wanted_kinds::queues},
    {"recipes", &wanted_kinds::recipes},
};

bool wanted_kinds::*kind_named(const std::string& name) {
  for (const auto& [known, member] : kind_names)
    if (name == known) return member;
  throw failure(exit_code::usage,
                "--only: expected servers, elections, groups, topics, commits, queues, recipes or an absolute path, "
                "found \"" +
                    printable(name) + "\"");
}

bool is_below(const std::string& path, const std::string& other) {
  return path != other && (other == "/" || path.starts_with(other + "/"));
}

/// A path below another one would be looked at twice.
void drop_nested(std::vector<std::string>& paths) {
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  const auto all = paths;
  std::erase_if(paths, [&all](const auto& path) {
    return std::any_of(all.begin(), all.end(), [&path](const auto& other) { return is_below(path, other); });
  });
}

/// Whether the path is at or below one of those that are wanted.
bool is_wanted(const targets& wanted, const std::string& path) {
  const auto is_at = [&path](const auto& each) { return path == each || is_below(path, each); };
  return wanted.paths.empty() || std::any_of(wanted.paths.begin(), wanted.paths.end(), is_at);
}

/// With paths only those at and below them.
void select_queues(targets& wanted, const std::vector<std::string>& queues) {
  const bool are_named = wanted.kinds.queues && wanted.paths.empty();
  if (are_named && queues.empty())
    throw failure(exit_code::usage, "--only queues: there are none; declare them with --queues PATH[,PATH...]");
  for (const auto& each : queues)
    if (is_wanted(wanted, each)) wanted.queues.push_back(each);
  wanted.kinds.queues = wanted.kinds.queues && !wanted.queues.empty();
}

}  // namespace

targets parse_targets(const std::vector<std::string>& only, const std::vector<std::string>& queues,
                      const std::vector<declared_recipe>& recipes) {
  if (only.empty()) return {{.queues = !queues.empty()}, {}, queues, recipes};
  targets wanted{{false, false, false, false, false, false, false}, {}, {}};
  for (const auto& each : only) {
    if (each.starts_with('/')) {
      wanted.paths.push_back(parse_path_argument(each));
    } else {
      wanted.kinds.*kind_named(each) = true;
    }
  }
  if (!wanted.paths.empty() && !wanted.kinds.has_recipes())
    wanted.kinds = {wanted.kinds.servers, true, true, true, true, true, true};
  wanted.named = wanted.paths;
  drop_nested(wanted.paths);
  select_queues(wanted, queues);
  for (const auto& each : recipes)
    if (is_wanted(wanted, each.path)) wanted.recipes.push_back(each);
  return wanted;
}

}  // namespace zkadmin
