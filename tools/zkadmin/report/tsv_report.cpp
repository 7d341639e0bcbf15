#include <cstdio>
#include <initializer_list>
#include <optional>

#include "report/report.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

void append_character(std::string& text, char c) {
  const auto byte = static_cast<unsigned char>(c);
  char code[8];
  if (byte >= 0x20 && byte != 0x7f) {
    text += c;
  } else {
    std::snprintf(code, sizeof code, "\\x%02x", byte);
    text += code;
  }
}

std::string escaped(std::string_view field) {
  std::string text;
  for (const char c : field) {
    switch (c) {
      case '\t': text += "\\t"; break;
      case '\n': text += "\\n"; break;
      case '\r': text += "\\r"; break;
      case '\\': text += "\\\\"; break;
      default: append_character(text, c);
    }
  }
  return well_formed(text);
}

std::string line(std::initializer_list<std::string> fields) {
  std::string text;
  for (const auto& each : fields) text += (text.empty() ? "" : "\t") + escaped(each);
  return text + "\n";
}

std::string digits(std::optional<std::int64_t> value) { return value ? std::to_string(*value) : ""; }

std::string decimal(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

std::string server_line(const server_status& server) {
  const auto& latency = server.latency;
  return line({"server", server.server, server.role ? to_string(*server.role) : "", server.reachable ? "yes" : "no",
               server.zxid ? hexadecimal(*server.zxid) : "", digits(server.connections),
               latency ? decimal(latency->min) : "", latency ? decimal(latency->avg) : "",
               latency ? decimal(latency->max) : "", digits(server.outstanding), digits(server.nodes), server.version,
               server.error});
}

// A value that is not known is an empty field.
std::string survey_line(const std::optional<election_survey>& survey) {
  return line({"elections",
               !survey            ? "unknown"
               : survey->complete ? "complete"
                                  : "incomplete",
               survey ? std::to_string(survey->elections.size()) : ""});
}

std::string election_lines(const election_status& election) {
  const hand_over_status none;
  const auto& hand_over = election.hand_over ? *election.hand_over : none;
  const auto ms = [&election](auto duration) {
    return election.hand_over ? std::to_string(duration.count()) : std::string();
  };
  const auto& asked = election.resignation_asked;
  std::string text =
      line({"election", election.path, is_known(election) ? std::to_string(election.epoch) : "", election.phase,
            election.leader ? election.leader->id : "", election.leader ? std::to_string(election.leader->token) : "",
            election.takeover, hand_over.from, hand_over.to, hand_over.state, ms(hand_over.elapsed),
            ms(hand_over.deadline), asked ? std::to_string(asked->count()) : "", problem_of(election)});
  for (const auto& each : election.waiters)
    text += line({"waiter", election.path, std::to_string(each.position), each.id});
  return text;
}

}  // namespace

std::string to_tsv(const cluster_status& cluster) {
  std::string text;
  for (const auto& each : cluster.ensemble) text += server_line(each);
  text += survey_line(cluster.survey);
  if (!cluster.survey) return text;
  for (const auto& each : cluster.survey->elections) text += election_lines(each);
  for (const auto& each : cluster.survey->notes) text += line({"note", each.path, each.text});
  return text;
}

}  // namespace zkadmin
