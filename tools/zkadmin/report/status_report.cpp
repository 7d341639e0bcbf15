#include "report/status_report.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/text.hpp"
#include "problems/ensemble_rules.hpp"
#include "problems/rules.hpp"
#include "problems/verdict.hpp"
#include "report/formats.hpp"

namespace zkadmin {

namespace {

namespace json = boost::json;
using wall_time = std::chrono::system_clock::time_point;
using std::chrono::milliseconds;

std::optional<std::int64_t> ms_of(const std::optional<wall_time>& time) {
  if (!time) return std::nullopt;
  return time->time_since_epoch() / milliseconds(1);
}

/// Never negative, although the clocks of the servers and ours may differ.
std::optional<milliseconds> length_of(const term_status& term, wall_time now) {
  const auto end = term.outcome.empty() ? std::optional(now) : term.ended;
  if (!term.began || !end) return std::nullopt;
  return std::max(std::chrono::duration_cast<milliseconds>(*end - *term.began), milliseconds(0));
}

std::string history_as_table(const election_status& election, wall_time now) {
  if (election.history.empty()) return "no term is recorded\n";
  return printed(history_table(election, now));
}

std::string history_as_json(const election_status& election, wall_time now) {
  json::array terms;
  for (const auto& each : election.history)
    terms.push_back(json::object{{"epoch", each.epoch},
                                 {"leader", or_null(each.leader)},
                                 {"began_ms", or_null(ms_of(each.began))},
                                 {"ended_ms", or_null(ms_of(each.ended))},
                                 {"lasted_ms", or_null(length_of(each, now))},
                                 {"outcome", or_null(each.outcome)}});
  const json::object all{{"schema", 1},
                         {"path", well_formed(election.path)},
                         {"phase", or_null(election.phase)},
                         {"terms", std::move(terms)}};
  return json_line(all);
}

std::string history_as_tsv(const election_status& election, wall_time now) {
  std::string text;
  for (const auto& each : election.history)
    text += tsv_line("term", election.path, each.epoch, each.leader, ms_of(each.began), ms_of(each.ended),
                     length_of(each, now), each.outcome);
  return text;
}

}  // namespace

table history_table(const election_status& election, wall_time now) {
  const auto row = [&election, now](const term_status& each) {
    const auto began = ms_of(each.began);
    return row_of(each.epoch, each.leader, began ? utc_time(*began) : "-", length_of(each, now),
                  each.outcome.empty() ? "goes on: " + election.phase : each.outcome);
  };
  return table_of({{"EPOCH", 0, true}, {"LEADER"}, {"BEGAN", 1}, {"LASTED", 0, true}, {"ENDED"}}, election.history,
                  row);
}

std::string formatted_history(const election_status& election, output_format format, wall_time now) {
  return in_format(
      format, [&] { return history_as_table(election, now); }, [&] { return history_as_json(election, now); },
      [&] { return history_as_tsv(election, now); });
}

namespace {

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
  for (auto text : {server.zxid ? hexadecimal(*server.zxid) : "", field_of(server.connections), latency(server.latency),
                    field_of(server.outstanding), field_of(server.nodes), server.version})
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
  return table_of({{"SERVER", 0, false, 24, true},
                   {"ROLE"},
                   {"ZXID", 1},
                   {"CONN", 2, true},
                   {"LATENCY MS", 3, true},
                   {"OUTST", 4, true},
                   {"NODES", 5, true},
                   {"VERSION", 6}},
                  servers, [&](const auto& each) { return server_row(each, problems_of(each, servers, limits)); });
}

table election_table(std::span<const election_status> elections, const problem_limits& limits) {
  const auto row = [&limits](const election_status& each) {
    return row_of(each.path, each.epoch > 0 ? std::to_string(each.epoch) : "-",
                  table_cell{each.phase, look_of_phase(each, limits)}, leader_cell(each), waiting_candidates(each));
  };
  return table_of(
      {{"PATH", 0, false, 20, true}, {"EPOCH", 2, true}, {"PHASE", 1}, {"LEADER", 0, false, 14, true}, {"WAITING", 3}},
      elections, row);
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

namespace {

std::vector<std::string> lines_about(const election_status& election, const problem_limits& limits) {
  auto lines = problem_lines(problems_of(election, limits));
  if (auto activity = activity_line(election); !activity.empty()) lines.insert(lines.begin(), std::move(activity));
  return lines;
}

}  // namespace

std::string to_table(const cluster_status& cluster, const problem_limits& limits) {
  const auto servers =
      quorum_banner(cluster.ensemble).text + "\n\n" + printed(ensemble_table(cluster.ensemble, limits)) + "\n";
  auto elections = cluster.survey ? cluster.survey->found : std::vector<election_status>();
  put_problems_first(elections, limits);
  const auto lines = [&](std::size_t i) { return lines_about(elections[i], limits); };
  return servers + survey_table(cluster.survey, "elections",
                                elections.empty() ? "" : printed(with_lines(election_table(elections, limits), lines)));
}

namespace {

// Text, as ZooKeeper writes it: as a number it would lose digits in readers that have only doubles.
json::value zxid_text(std::optional<std::uint64_t> zxid) {
  return zxid ? json::value(hexadecimal(*zxid)) : json::value(nullptr);
}

json::value latency_object(const std::optional<latency_ms>& latency) {
  if (!latency) return {{"min", nullptr}, {"avg", nullptr}, {"max", nullptr}};
  return {
      {"min", plain_number(latency->min)}, {"avg", plain_number(latency->avg)}, {"max", plain_number(latency->max)}};
}

json::object server_object(const server_status& server) {
  json::object object;
  object["server"] = well_formed(server.server);
  object["role"] = server.role ? json::value(to_string(*server.role)) : json::value(nullptr);
  object["reachable"] = server.reachable;
  object["zxid"] = zxid_text(server.zxid);
  object["connections"] = or_null(server.connections);
  object["latency_ms"] = latency_object(server.latency);
  object["outstanding"] = or_null(server.outstanding);
  object["nodes"] = or_null(server.nodes);
  object["version"] = or_null(server.version);
  object["error"] = or_null(server.error);
  return object;
}

json::value hand_over_object(const std::optional<hand_over_status>& hand_over) {
  if (!hand_over) return nullptr;
  json::object object;
  object["from"] = well_formed(hand_over->from);
  object["to"] = well_formed(hand_over->to);
  object["state"] = well_formed(hand_over->state);
  object["elapsed_ms"] = hand_over->elapsed.count();
  object["deadline_ms"] = hand_over->deadline.count();
  return object;
}

json::value waiter_array(const election_status& election) {
  if (!is_known(election)) return nullptr;
  return array_of(election.waiters, [](const candidate_status& each) {
    return json::object{{"id", well_formed(each.id)}, {"position", each.position}};
  });
}

json::object election_object(const election_status& election, const problem_limits& limits) {
  json::object object;
  object["path"] = well_formed(election.path);
  object["epoch"] = is_known(election) ? json::value(election.epoch) : json::value(nullptr);
  object["phase"] = well_formed(election.phase);
  object["leader"] = nullptr;
  if (const auto& leader = election.leader)
    object["leader"] = {{"id", well_formed(leader->id)}, {"token", leader->token}};
  object["waiters"] = waiter_array(election);
  object["hand_over"] = hand_over_object(election.hand_over);
  object["takeover"] = or_null(election.takeover);
  object["resignation_asked_ms"] = or_null(election.resignation_asked);
  object["problem"] = or_null(text_of(problems_of(election, limits)));
  return object;
}

}  // namespace

std::string to_json(const cluster_status& cluster, const problem_limits& limits) {
  const auto& survey = cluster.survey;
  json::object document{{"schema", 2},
                        {"ensemble", array_of(cluster.ensemble, server_object)},
                        {"complete", survey && survey->complete},
                        {"elections", nullptr},
                        {"notes", survey ? note_array(survey->notes) : json::array()}};
  if (survey)
    document["elections"] =
        array_of(survey->found, [&limits](const auto& each) { return election_object(each, limits); });
  return json_line(document);
}

namespace {

std::string decimal(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

std::string server_line(const server_status& server) {
  const auto& latency = server.latency;
  return tsv_line("server", server.server, server.role ? to_string(*server.role) : "", server.reachable,
                  server.zxid ? hexadecimal(*server.zxid) : "", server.connections,
                  latency ? decimal(latency->min) : "", latency ? decimal(latency->avg) : "",
                  latency ? decimal(latency->max) : "", server.outstanding, server.nodes, server.version, server.error);
}

std::string election_lines(const election_status& election, const problem_limits& limits) {
  const auto& leader = election.leader;
  const auto& hand_over = election.hand_over;
  const auto of_hand_over = [&hand_over](const auto& member) {
    return hand_over ? field_of((*hand_over).*member) : std::string();
  };
  auto text = tsv_line("election", election.path, is_known(election) ? std::to_string(election.epoch) : "",
                       election.phase, leader ? leader->id : "", leader ? std::to_string(leader->token) : "",
                       election.takeover, of_hand_over(&hand_over_status::from), of_hand_over(&hand_over_status::to),
                       of_hand_over(&hand_over_status::state), of_hand_over(&hand_over_status::elapsed),
                       of_hand_over(&hand_over_status::deadline), election.resignation_asked,
                       text_of(problems_of(election, limits)));
  for (const auto& each : election.waiters) text += tsv_line("waiter", election.path, each.position, each.id);
  return text;
}

}  // namespace

std::string to_tsv(const cluster_status& cluster, const problem_limits& limits) {
  std::string text;
  for (const auto& each : cluster.ensemble) text += server_line(each);
  return text +
         survey_tsv(cluster.survey, "elections", [&limits](const auto& each) { return election_lines(each, limits); });
}

}  // namespace zkadmin
