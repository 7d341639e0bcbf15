// The servers, and all that one of them tells.
#include "problems/ensemble_rules.hpp"
#include "report/tables.hpp"
#include "screen/page_content.hpp"

namespace zkadmin {

list_view server_list_view(const model& state) {
  list_view list;
  const auto& servers = state.seen.servers;
  list.content = ensemble_table(servers, state.limits);
  for (const auto& each : servers) list.keys.push_back({each.server, screen_place{page::servers, each.server}});
  const auto banner = quorum_banner(servers);
  if (banner.look != look::good) list.remark = banner;
  return list;
}

void add_server(sheet& to, const model& state, const std::string& name) {
  const auto& servers = state.seen.servers;
  const auto is_it = [&name](const auto& each) { return each.server == name; };
  const auto found = std::find_if(servers.begin(), servers.end(), is_it);
  if (found == servers.end()) return;
  to.add_subject("SERVER", name);
  to.add_field("role", standing(*found));
  if (!found->error.empty()) to.add_field("error", found->error, look::warning);
  auto answers = *found;
  answers.error.clear();  // it would take the place of the figures
  const auto content = ensemble_table({&answers, 1}, state.limits);
  const auto& row = content.rows.front();
  for (std::size_t i = 2; i < row.size(); ++i)
    if (!row[i].text.empty()) to.add_field(content.columns[i].title, row[i].text);
  add_problems(to, problems_of(*found, servers, state.limits));
}

}  // namespace zkadmin
