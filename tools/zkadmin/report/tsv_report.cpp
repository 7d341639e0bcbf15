#include <cstdio>
#include <optional>

#include "problems/election_rules.hpp"
#include "report/report.hpp"
#include "report/tsv.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

std::string digits(std::optional<std::int64_t> value) { return value ? std::to_string(*value) : ""; }

std::string decimal(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

std::string server_line(const server_status& server) {
  const auto& latency = server.latency;
  return tsv_line({"server", server.server, server.role ? to_string(*server.role) : "", server.reachable ? "yes" : "no",
                   server.zxid ? hexadecimal(*server.zxid) : "", digits(server.connections),
                   latency ? decimal(latency->min) : "", latency ? decimal(latency->avg) : "",
                   latency ? decimal(latency->max) : "", digits(server.outstanding), digits(server.nodes),
                   server.version, server.error});
}

// A value that is not known is an empty field.
std::string survey_line(const std::optional<election_survey>& survey) {
  return tsv_line({"elections",
                   !survey            ? "unknown"
                   : survey->complete ? "complete"
                                      : "incomplete",
                   survey ? std::to_string(survey->elections.size()) : ""});
}

std::string election_lines(const election_status& election, const problem_limits& limits) {
  const hand_over_status none;
  const auto& hand_over = election.hand_over ? *election.hand_over : none;
  const auto ms = [&election](auto duration) {
    return election.hand_over ? std::to_string(duration.count()) : std::string();
  };
  const auto& asked = election.resignation_asked;
  std::string text = tsv_line(
      {"election", election.path, is_known(election) ? std::to_string(election.epoch) : "", election.phase,
       election.leader ? election.leader->id : "", election.leader ? std::to_string(election.leader->token) : "",
       election.takeover, hand_over.from, hand_over.to, hand_over.state, ms(hand_over.elapsed), ms(hand_over.deadline),
       asked ? std::to_string(asked->count()) : "", text_of(problems_of(election, limits))});
  for (const auto& each : election.waiters)
    text += tsv_line({"waiter", election.path, std::to_string(each.position), each.id});
  return text;
}

}  // namespace

std::string to_tsv(const cluster_status& cluster, const problem_limits& limits) {
  std::string text;
  for (const auto& each : cluster.ensemble) text += server_line(each);
  text += survey_line(cluster.survey);
  if (!cluster.survey) return text;
  for (const auto& each : cluster.survey->elections) text += election_lines(each, limits);
  for (const auto& each : cluster.survey->notes) text += tsv_line({"note", each.path, each.text});
  return text;
}

}  // namespace zkadmin
