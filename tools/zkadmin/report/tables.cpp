#include "report/tables.hpp"

#include "text.hpp"

#include <algorithm>
#include <cstdio>

namespace zkadmin {
namespace {

std::string number(std::optional<std::int64_t> value) {
  return value ? std::to_string(*value) : "";
}

std::string latency(const std::optional<latency_ms>& value) {
  if (!value) return {};
  char text[80];
  std::snprintf(text, sizeof text, "%.4g/%.3g/%.6g", value->min, value->avg, value->max);
  return text;
}

look look_of(const server_status& server) {
  if (is_serving(server)) return *server.role == server_role::leader ? look::good : look::plain;
  return server.reachable ? look::warning : look::bad;
}

table_row server_row(const server_status& server) {
  const look how = look_of(server);
  const std::string role = server.role ? to_string(*server.role) : server.reachable ? "unknown" : "down";
  table_row row{{server.server, how}, {role, how}};
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

look look_of_phase(const std::string& phase) {
  if (phase == "executing") return look::good;
  if (is_trouble(phase)) return look::bad;
  return phase == "inaugurating" || phase == "handing_over" ? look::warning : look::plain;
}

// A foreign candidate may have no id.
const std::string& label(const candidate_status& who) {
  return who.id.empty() ? who.node : who.id;
}

std::string waiting_line(const election_status& election) {
  std::string line;
  for (const auto& each : election.waiters) line += (line.empty() ? "" : ", ") + label(each);
  return line.empty() ? "-" : line;
}

}  // namespace

table ensemble_table(std::span<const server_status> servers) {
  table content;
  content.columns = {{"SERVER", 0, false, 24}, {"ROLE"},           {"ZXID", 1},        {"CONN", 2, true},
                     {"LATENCY MS", 3, true},  {"OUTST", 4, true}, {"NODES", 5, true}, {"VERSION", 6}};
  for (const auto& each : servers) content.rows.push_back(server_row(each));
  return content;
}

table election_table(std::span<const election_status> elections) {
  table content;
  content.columns = {{"PATH", 0, false, 20}, {"EPOCH", 2, true}, {"PHASE", 1}, {"LEADER"}, {"WAITING", 3}};
  for (const auto& each : elections) {
    const table_cell leader =
        each.leader ? table_cell{label(*each.leader)} : table_cell{"none", look::warning};
    content.rows.push_back({{each.path},
                            {each.epoch > 0 ? std::to_string(each.epoch) : "-"},
                            {each.phase, look_of_phase(each.phase)},
                            leader,
                            {waiting_line(each)}});
  }
  return content;
}

std::string hand_over_line(const hand_over_status& hand_over) {
  const std::string to = hand_over.to.empty() ? "nobody yet" : hand_over.to;
  return hand_over.from + " -> " + to + "  " + hand_over.state + "  " + short_duration(hand_over.elapsed) +
         " / " + short_duration(hand_over.deadline);
}

table_cell quorum_banner(std::span<const server_status> servers) {
  const auto serving = static_cast<std::size_t>(std::count_if(servers.begin(), servers.end(), is_serving));
  const std::string count = std::to_string(serving) + "/" + std::to_string(servers.size());
  if (serving == 0) return {"NO QUORUM " + count, look::bad};
  // The newest claim, should a former leader not know yet that it is one no more.
  const server_status* leader = nullptr;
  for (const auto& each : servers)
    if (each.role == server_role::leader && (!leader || leader->zxid < each.zxid)) leader = &each;
  std::string text = "QUORUM " + count;
  if (leader) {
    text += " leader " + leader->server;
  } else if (servers.size() == 1 && servers[0].role == server_role::standalone) {
    text = "STANDALONE";
  } else {
    text += " leader not among the hosts";
  }
  // Servers that serve prove a quorum, but a minority of the hosts given is not how it should be.
  return {text, serving == servers.size() ? look::good : look::warning};
}

}  // namespace zkadmin
