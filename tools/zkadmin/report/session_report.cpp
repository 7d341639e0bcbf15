#include "report/session_report.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/text.hpp"
#include "report/formats.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

std::string id_of(const session_status& session) { return hexadecimal(static_cast<std::uint64_t>(session.id)); }

/// For how long it has been connected, by this machine's clock against the server's.
std::optional<milliseconds> connected_for(const session_status& session, milliseconds now) {
  if (!session.established) return std::nullopt;
  return std::max(now - *session.established, milliseconds(0));
}

std::optional<std::uint64_t> node_count(const session_status& session) {
  if (!session.nodes) return std::nullopt;
  return session.nodes->size() + session.outside;
}

std::string span_text(const std::optional<milliseconds>& span) { return span ? short_duration(*span) : "-"; }

template <class Number>
std::string count_text(const std::optional<Number>& count) {
  return count ? std::to_string(*count) : "-";
}

table server_table(const session_survey& sessions) {
  table content;
  content.columns = {{"SERVER"}, {"SOURCE"}, {"SESSIONS", 0, true}, {"WHY"}};
  for (const auto& each : sessions.servers)
    content.rows.push_back(
        {{each.server}, {to_string(each.source)}, {count_text(each.sessions)}, {or_dash(printable(each.why))}});
  return content;
}

table session_table(const session_survey& sessions, milliseconds now) {
  table content;
  content.columns = {{"SESSION"},          {"CLIENT"}, {"SERVER"},        {"TIMEOUT", 0, true}, {"FOR", 0, true},
                     {"WAITING", 0, true}, {"LAST"},   {"IDLE", 0, true}, {"NODES", 0, true}};
  for (const auto& each : sessions.found)
    content.rows.push_back({{id_of(each)},
                            {or_dash(each.client)},
                            {or_dash(each.server)},
                            {span_text(each.timeout)},
                            {span_text(connected_for(each, now))},
                            {count_text(each.outstanding)},
                            {or_dash(each.last_operation)},
                            {span_text(each.idle)},
                            {count_text(node_count(each))}});
  return content;
}

table node_table(const session_status& session) {
  table content;
  content.columns = {{"NODE"}, {"KIND"}, {"ROLE"}, {"RECIPE"}};
  for (const auto& each : *session.nodes)
    content.rows.push_back({{each.path}, {or_dash(each.kind)}, {or_dash(each.role)}, {or_dash(each.recipe)}});
  return content;
}

std::string heading_of(const session_status& session) {
  if (session.server.empty()) return id_of(session) + ": no server has told of its connection";
  return id_of(session) + ": " + or_dash(session.client) + " at " + session.server;
}

/// "timeout 8.0 s, connected for 1m 05s, ...", of what is known.
std::string values_of(const session_status& session, milliseconds now) {
  std::string text;
  const auto add = [&text](const std::string& name, const std::string& value) {
    if (value != "-") append_to_list(text, name + value);
  };
  add("timeout ", span_text(session.timeout));
  add("connected for ", span_text(connected_for(session, now)));
  add("requests waiting: ", count_text(session.outstanding));
  add("packets received: ", count_text(session.received));
  add("packets sent: ", count_text(session.sent));
  add("last: ", or_dash(session.last_operation));
  add("its latency ", span_text(session.last_latency));
  add("idle for at least ", span_text(session.idle));
  return text;
}

std::string details_of(const session_status& session, milliseconds now) {
  auto text = printable(heading_of(session)) + "\n";
  if (const auto values = values_of(session, now); !values.empty()) text += printable(values) + "\n";
  if (!session.nodes) return text + "Its ephemeral nodes are not known.\n";
  if (session.outside > 0)
    text += "ephemeral nodes outside of the root of the hosts: " + std::to_string(session.outside) + "\n";
  if (session.nodes->empty()) return text + "No ephemeral nodes" + (session.outside > 0 ? " below it" : "") + ".\n";
  return text + "\n" + printed(node_table(session));
}

json::array node_array(const session_status& session) {
  json::array all;
  for (const auto& each : *session.nodes)
    all.push_back({{"path", well_formed(each.path)},
                   {"kind", or_null(each.kind)},
                   {"recipe", or_null(each.recipe)},
                   {"role", or_null(each.role)}});
  return all;
}

json::object session_object(const session_status& session, bool with_nodes, milliseconds now) {
  json::object object;
  object["id"] = id_of(session);
  object["client"] = or_null(session.client);
  object["server"] = or_null(session.server);
  object["timeout_ms"] = or_null(session.timeout);
  object["connected_ms"] = or_null(connected_for(session, now));
  object["outstanding"] = or_null(session.outstanding);
  object["received"] = or_null(session.received);
  object["sent"] = or_null(session.sent);
  object["last_operation"] = or_null(session.last_operation);
  object["last_latency_ms"] = or_null(session.last_latency);
  object["idle_ms"] = or_null(session.idle);
  object["ephemeral_nodes"] = or_null(node_count(session));
  if (with_nodes) object["nodes"] = session.nodes ? json::value(node_array(session)) : json::value(nullptr);
  return object;
}

json::array server_array(const session_survey& sessions) {
  json::array all;
  for (const auto& each : sessions.servers)
    all.push_back({{"server", each.server},
                   {"source", to_string(each.source)},
                   {"sessions", or_null(each.sessions)},
                   {"why", or_null(each.why)}});
  return all;
}

std::string number_field(const std::optional<std::int64_t>& value) { return value ? std::to_string(*value) : ""; }
std::string number_field(const std::optional<std::uint64_t>& value) { return value ? std::to_string(*value) : ""; }
std::string number_field(const std::optional<milliseconds>& value) {
  return value ? std::to_string(value->count()) : "";
}

std::string session_lines(const session_status& session, bool with_nodes, milliseconds now) {
  const auto id = id_of(session);
  auto text =
      tsv_line({"session", id, session.client, session.server, number_field(session.timeout),
                number_field(connected_for(session, now)), number_field(session.outstanding),
                number_field(session.received), number_field(session.sent), session.last_operation,
                number_field(session.last_latency), number_field(session.idle), number_field(node_count(session))});
  if (!with_nodes || !session.nodes) return text;
  for (const auto& each : *session.nodes) text += tsv_line({"node", id, each.path, each.kind, each.recipe, each.role});
  return text;
}

}  // namespace

std::string to_table(const known_sessions& sessions, milliseconds now) {
  if (!sessions) return "Sessions: not known.\n";
  auto text = printed(server_table(*sessions)) + "\n";
  if (!sessions->found.empty()) text += printed(session_table(*sessions, now));
  if (!sessions->complete) return text + "There may be more sessions, or more nodes, than these.\n";
  return sessions->found.empty() ? text + "No sessions.\n" : text;
}

std::string to_details(const session_survey& sessions, milliseconds now) {
  std::string text;
  for (const auto& each : sessions.found) text += (text.empty() ? "" : "\n") + details_of(each, now);
  return text;
}

std::string to_json(const known_sessions& sessions, bool with_nodes, milliseconds now) {
  json::object document;
  document["schema"] = 1;
  document["complete"] = sessions && sessions->complete;
  document["servers"] = sessions ? json::value(server_array(*sessions)) : json::value(nullptr);
  document["nodes_told_by"] = sessions ? or_null(sessions->nodes_told_by) : json::value(nullptr);
  json::value all = nullptr;
  if (sessions) {
    auto& array = all.emplace_array();
    for (const auto& each : sessions->found) array.push_back(session_object(each, with_nodes, now));
  }
  document["sessions"] = std::move(all);
  document["notes"] = sessions ? note_array(sessions->notes) : json::array();
  return json_line(document);
}

std::string to_tsv(const known_sessions& sessions, bool with_nodes, milliseconds now) {
  if (!sessions) return tsv_line({"sessions", "unknown", ""});
  auto text = tsv_line({"sessions", sessions->complete ? "complete" : "incomplete",
                        std::to_string(sessions->found.size()), sessions->nodes_told_by});
  for (const auto& each : sessions->servers)
    text += tsv_line({"server", each.server, to_string(each.source), number_field(each.sessions), each.why});
  for (const auto& each : sessions->found) text += session_lines(each, with_nodes, now);
  for (const auto& each : sessions->notes) text += tsv_line({"note", each.path, each.text});
  return text;
}

}  // namespace zkadmin
