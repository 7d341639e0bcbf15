#include <algorithm>

#include "problems/election_rules.hpp"
#include "problems/order.hpp"
#include "report/printed.hpp"
#include "report/report.hpp"
#include "report/tables.hpp"

namespace zkadmin {
namespace {

table with_activities(const std::vector<election_status>& elections, const problem_limits& limits) {
  table content = election_table(elections, limits);
  std::vector<table_row> rows;
  for (std::size_t i = 0; i < content.rows.size(); ++i) {
    rows.push_back(std::move(content.rows[i]));
    if (const auto activity = activity_line(elections[i]); !activity.empty()) rows.push_back({{"  " + activity}});
  }
  content.rows = std::move(rows);
  return content;
}

}  // namespace

std::string to_table(const cluster_status& cluster, const problem_limits& limits) {
  std::string text =
      quorum_banner(cluster.ensemble).text + "\n\n" + printed(ensemble_table(cluster.ensemble, limits)) + "\n";
  if (!cluster.survey) return text + "Elections: not known.\n";
  auto elections = cluster.survey->elections;
  put_problems_first(elections, limits);
  if (!elections.empty()) text += printed(with_activities(elections, limits));
  if (!cluster.survey->complete) return text + "There may be more elections than these.\n";
  return elections.empty() ? text + "No elections.\n" : text;
}

}  // namespace zkadmin
