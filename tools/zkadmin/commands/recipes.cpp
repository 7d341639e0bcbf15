#include <utility>

#include "cluster/recipe_survey.hpp"
#include "commands/listing.hpp"
#include "report/recipe_report.hpp"

namespace zkadmin {
namespace {

std::string formatted_recipes(const known_recipes& recipes, output_format format, bool is_one,
                              const problem_limits& limits) {
  switch (format) {
    case output_format::table: return is_one && recipes ? to_details(*recipes, limits) : to_table(recipes, limits);
    case output_format::json: return to_json(recipes, limits);
    case output_format::tsv: return to_tsv(recipes, limits);
  }
  return {};
}

/// The setting `queues` declares queues as well.
recipe_query query_of(const settings& wanted, const std::string& kind) {
  recipe_query query{std::nullopt, wanted.recipes};
  for (const auto& each : wanted.queues) query.declared.push_back({recipe::queue, each});
  if (!kind.empty()) query.kind = parse_kind_argument(kind);
  return query;
}

}  // namespace

exit_code show_recipes(surroundings& around, const settings& wanted, const std::string& path, const std::string& kind,
                       output_format format) {
  const auto only = path.empty() ? path : parse_path_argument(path);
  const auto query = query_of(wanted, kind);
  const finder<recipe_status> find = [only, query, root = wanted.root](zkrecipes::session session, deadline limit) {
    if (!only.empty()) return survey_recipe_at(std::move(session), only, query, limit);
    return survey_all_recipes(std::move(session), root, query, middle(limit), limit);
  };
  return show_found<recipe_status>(around, wanted, "recipes", find, [&](const known_recipes& all) {
    return formatted_recipes(all, format, !only.empty(), wanted.limits);
  });
}

}  // namespace zkadmin
