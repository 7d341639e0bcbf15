#include "report/tables.hpp"

#include <algorithm>
#include <cstdio>

#include "problems/election_rules.hpp"
#include "problems/ensemble_rules.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

std::string number(std::optional<std::int64_t> value) { return value ? std::to_string(*value) : ""; }

std::string latency(const std::optional<latency_ms>& value) {
  if (!value) return {};
  char text[80];
  std::snprintf(text, sizeof text, "%.4g/%.3g/%.6g", value->min, value->avg, value->max);
  return text;
}

look look_of(const server_status& server, const problem_list& problems) {
  if (!problems.empty()) return server.reachable ? look::warning : look::bad;
  if (is_serving(server)) return *server.role == server_role::leader ? look::good : look::plain;
  return server.silent ? look::dim : look::warning;
}

table_row server_row(const server_status& server, const problem_list& problems) {
  const look how = look_of(server, problems);
  table_row row{{server.server, how}, {standing(server), how}};
  if (!server.error.empty()) {
    row.push_back({server.error, how});
    return row;
  }
  row.push_back({server.zxid ? hexadecimal(*server.zxid) : ""});
  for (auto text : {number(server.connections), latency(server.latency), number(server.outstanding),
                    number(server.nodes), server.version})
    row.push_back({std::move(text)});
  return row;
}

look look_of_phase(const election_status& election, const problem_limits& limits) {
  const auto& phase = election.phase;
  const auto problems = problems_of(election, limits);
  if (!problems.empty()) return is_critical(problems) ? look::bad : look::warning;
  if (phase == "executing") return look::good;
  const bool is_passing = phase == "inaugurating" || phase == "handing_over" || phase == "unknown";
  return is_passing ? look::warning : look::plain;
}

table_cell leader_cell(const election_status& election) {
  if (election.leader) return {label(*election.leader)};
  if (!is_known(election)) return {"-"};
  if (is_abandoned(election)) return {"nobody in line", look::bad};
  return {"none", look::warning};
}

std::string waiting_candidates(const election_status& election) {
  std::string line;
  for (const auto& each : election.waiters) line += (line.empty() ? "" : ", ") + label(each);
  return line.empty() ? "-" : line;
}

}  // namespace

table ensemble_table(std::span<const server_status> servers, const problem_limits& limits) {
  table content;
  content.columns = {{"SERVER", 0, false, 24, true}, {"ROLE"},           {"ZXID", 1},        {"CONN", 2, true},
                     {"LATENCY MS", 3, true},        {"OUTST", 4, true}, {"NODES", 5, true}, {"VERSION", 6}};
  for (const auto& each : servers) content.rows.push_back(server_row(each, problems_of(each, servers, limits)));
  return content;
}

table election_table(std::span<const election_status> elections, const problem_limits& limits) {
  table content;
  content.columns = {
      {"PATH", 0, false, 20, true}, {"EPOCH", 2, true}, {"PHASE", 1}, {"LEADER", 0, false, 14, true}, {"WAITING", 3}};
  for (const auto& each : elections)
    content.rows.push_back({{each.path},
                            {each.epoch > 0 ? std::to_string(each.epoch) : "-"},
                            {each.phase, look_of_phase(each, limits)},
                            leader_cell(each),
                            {waiting_candidates(each)}});
  return content;
}

std::string hand_over_line(const hand_over_status& hand_over) {
  const std::string to = hand_over.to.empty() ? "nobody yet" : hand_over.to;
  return hand_over.from + " -> " + to + "  " + hand_over.state + "  " + short_duration(hand_over.elapsed) + " / " +
         short_duration(hand_over.deadline);
}

std::string activity_line(const election_status& election) {
  if (const auto& hand_over = election.hand_over) return "hand-over: " + hand_over_line(*hand_over);
  if (!election.resignation_asked || !election.leader) return {};
  return "resignation: " + label(*election.leader) + " was asked " + short_duration(*election.resignation_asked) +
         " ago";
}

namespace {

/// The banner if no server is known to serve.
table_cell banner_without_service(std::span<const server_status> servers, service_state service) {
  const std::string count = "0/" + std::to_string(servers.size());
  switch (service) {
    case service_state::serves:
    case service_state::asking: break;
    case service_state::not_told: return {"QUORUM not known: no server tells its role", look::warning};
    case service_state::no_quorum: return {"NO QUORUM " + count, look::bad};
    case service_state::no_answer: return {"NO ANSWER " + count, look::bad};
  }
  return {"asking the servers", look::dim};
}

std::string leader_text(std::span<const server_status> servers) {
  if (const auto* leader = leader_among(servers)) return " leader " + leader->server;
  const bool is_elsewhere =
      std::all_of(servers.begin(), servers.end(), [](const auto& each) { return each.role.has_value(); });
  return is_elsewhere ? " leader not among the hosts" : " leader not known";
}

}  // namespace

table_cell quorum_banner(std::span<const server_status> servers) {
  const auto service = service_of(servers);
  if (service != service_state::serves) return banner_without_service(servers, service);
  const auto serving = static_cast<std::size_t>(std::count_if(servers.begin(), servers.end(), is_serving));
  std::string text = "QUORUM " + std::to_string(serving) + "/" + std::to_string(servers.size()) + leader_text(servers);
  if (servers.size() == 1 && servers[0].role == server_role::standalone) text = "STANDALONE";
  // Servers that serve prove that there is a quorum, but it is still a warning if not all the given hosts serve.
  return {text, serving == servers.size() ? look::good : look::warning};
}

}  // namespace zkadmin
