#include "security/security_verdict.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "security/access_rules.hpp"
#include "security/exposure_rules.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

std::string amount_of(std::size_t count, const std::string& name) {
  return std::to_string(count) + " " + name + (count == 1 ? "" : "s");
}

void add_all(problem_list& to, problem_list more) { std::move(more.begin(), more.end(), std::back_inserter(to)); }

void judge_rights(verdict& judged, const security_findings& seen) {
  if (!seen.rights) {
    judged.unknown.push_back({"access rights", "not known" + (seen.trouble.empty() ? "" : ": " + seen.trouble)});
    return;
  }
  std::size_t nodes = 0, recipes = 0;
  for (const auto& each : seen.rights->recipes) {
    add_all(judged.problems, problems_of(each));
    recipes += each.which != recipe::none;
    nodes += each.nodes.size() + each.own.has_value();
  }
  add_all(judged.problems, problems_of_parents(*seen.rights));
  add_all(judged.problems, problems_of_connection(*seen.rights, seen.is_secure));
  judged.unknown = seen.rights->notes;
  append_to_list(judged.extent, amount_of(recipes, "recipe"));
  append_to_list(judged.extent, amount_of(nodes, "node"));
}

void judge_servers(verdict& judged, const security_findings& seen) {
  for (const auto& each : seen.servers)
    if (!each.reachable) judged.unknown.push_back({each.server, each.error.empty() ? "has not answered" : each.error});
  for (const auto& each : seen.exposures) {
    add_all(judged.problems, problems_of(each, seen.is_secure));
    const auto is_it = [&each](const auto& server) { return server.server == each.server && server.reachable; };
    if (!tells_settings(each) && std::any_of(seen.servers.begin(), seen.servers.end(), is_it))
      judged.remarks.push_back({each.server, "tells nobody its settings, so they were not looked at"});
  }
  append_to_list(judged.extent, amount_of(seen.servers.size(), "server"));
}

}  // namespace

verdict judge_security(const security_findings& seen, const wanted_kinds& kinds) {
  verdict judged;
  if (kinds.has_recipes()) judge_rights(judged, seen);
  if (kinds.servers) judge_servers(judged, seen);
  std::stable_partition(judged.problems.begin(), judged.problems.end(),
                        [](const problem& each) { return each.how_bad == severity::critical; });
  return judged;
}

}  // namespace zkadmin
