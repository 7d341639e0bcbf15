// Prints recipes of all kinds. docs/zkadmin.md describes the formats.
#pragma once

#include <optional>
#include <string>

#include "cluster/recipe_status.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// A survey that is missing: the recipes are not known.
using known_recipes = std::optional<recipe_survey>;

/// For people: a row for each recipe.
std::string to_table(const known_recipes& recipes, const problem_limits& limits = {});

/// For people: all that is known of each of these.
std::string to_details(const recipe_survey& recipes, const problem_limits& limits = {});

/// One line of JSON, "schema":1.
std::string to_json(const known_recipes& recipes, const problem_limits& limits = {});

/// One line about the survey, and one per recipe, fact, participant and note.
std::string to_tsv(const known_recipes& recipes, const problem_limits& limits = {});

}  // namespace zkadmin
