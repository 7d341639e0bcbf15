// The part of a cluster that a command is to look at: `--only KIND|PATH...`.
#pragma once

#include <string>
#include <vector>

#include "cluster/recipe_status.hpp"
#include "settings/recipe_kind.hpp"

namespace zkadmin {

struct targets {
  wanted_kinds kinds{};
  std::vector<std::string> paths{};  ///< Recipes at and below these; empty: at and below the root of the settings.
  std::vector<std::string> queues{};
  std::vector<declared_recipe> recipes{};
  std::vector<std::string> named{};  ///< All paths as given, also those below another one: each has to hold something.
};

/// `queues`, `recipes`: those that the settings declare. `only`: names of kinds and absolute paths; empty: everything.
/// Paths without names of kinds stand for all kinds of recipes. Throws `failure` (usage).
targets parse_targets(const std::vector<std::string>& only, const std::vector<std::string>& queues = {},
                      const std::vector<declared_recipe>& recipes = {});

}  // namespace zkadmin
