#include <optional>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "problems/election_rules.hpp"
#include "report/json_values.hpp"
#include "report/report.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;

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
  json::array waiters;
  for (const auto& each : election.waiters)
    waiters.push_back({{"id", well_formed(each.id)}, {"position", each.position}});
  return waiters;
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

json::value election_array(const std::optional<election_survey>& survey, const problem_limits& limits) {
  if (!survey) return nullptr;
  json::array elections;
  for (const auto& each : survey->elections) elections.push_back(election_object(each, limits));
  return elections;
}

}  // namespace

std::string to_json(const cluster_status& cluster, const problem_limits& limits) {
  json::array ensemble;
  for (const auto& each : cluster.ensemble) ensemble.push_back(server_object(each));
  json::object document;
  document["schema"] = 2;
  document["ensemble"] = std::move(ensemble);
  document["complete"] = cluster.survey && cluster.survey->complete;
  document["elections"] = election_array(cluster.survey, limits);
  document["notes"] = cluster.survey ? note_array(cluster.survey->notes) : json::array();
  return json_line(document);
}

}  // namespace zkadmin
