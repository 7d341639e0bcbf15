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

table server_table(const session_survey& sessions) {
  const auto row = [](const asked_server& each) {
    return row_of(each.server, to_string(each.source), each.sessions, or_dash(printable(each.why)));
  };
  return table_of({{"SERVER"}, {"SOURCE"}, {"SESSIONS", 0, true}, {"WHY"}}, sessions.servers, row);
}

table session_table(const session_survey& sessions, milliseconds now) {
  return table_of({{"SESSION"},
                   {"CLIENT"},
                   {"SERVER"},
                   {"TIMEOUT", 0, true},
                   {"FOR", 0, true},
                   {"WAITING", 0, true},
                   {"LAST"},
                   {"IDLE", 0, true},
                   {"NODES", 0, true}},
                  sessions.found, [now](const session_status& each) {
                    return row_of(id_of(each), or_dash(each.client), or_dash(each.server), each.timeout,
                                  connected_for(each, now), each.outstanding, or_dash(each.last_operation), each.idle,
                                  node_count(each));
                  });
}

table node_table(const session_status& session) {
  const auto row = [](const owned_node& each) {
    return row_of(each.path, or_dash(each.kind), or_dash(each.role), or_dash(each.recipe));
  };
  return table_of({{"NODE"}, {"KIND"}, {"ROLE"}, {"RECIPE"}}, *session.nodes, row);
}

std::string heading_of(const session_status& session) {
  if (session.server.empty()) return id_of(session) + ": no server has told of its connection";
  return id_of(session) + ": " + or_dash(session.client) + " at " + session.server;
}

/// "timeout 8.0 s, connected for 1m 05s, ...", of what is known.
std::string values_of(const session_status& session, milliseconds now) {
  std::string text;
  const auto add = [&text](const std::string& name, const auto& value) {
    if (const auto shown = cell_of(value).text; shown != "-") append_to_list(text, name + shown);
  };
  add("timeout ", session.timeout);
  add("connected for ", connected_for(session, now));
  add("requests waiting: ", session.outstanding);
  add("packets received: ", session.received);
  add("packets sent: ", session.sent);
  add("last: ", or_dash(session.last_operation));
  add("its latency ", session.last_latency);
  add("idle for at least ", session.idle);
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
  return array_of(*session.nodes, [](const owned_node& each) {
    return json::object{{"path", well_formed(each.path)},
                        {"kind", or_null(each.kind)},
                        {"recipe", or_null(each.recipe)},
                        {"role", or_null(each.role)}};
  });
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

json::object asked_server_object(const asked_server& each) {
  return {{"server", each.server},
          {"source", to_string(each.source)},
          {"sessions", or_null(each.sessions)},
          {"why", or_null(each.why)}};
}

std::string session_lines(const session_status& session, bool with_nodes, milliseconds now) {
  const auto id = id_of(session);
  auto text = tsv_line("session", id, session.client, session.server, session.timeout, connected_for(session, now),
                       session.outstanding, session.received, session.sent, session.last_operation,
                       session.last_latency, session.idle, node_count(session));
  if (!with_nodes || !session.nodes) return text;
  for (const auto& each : *session.nodes) text += tsv_line("node", id, each.path, each.kind, each.recipe, each.role);
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
  json::object document{{"schema", 1}, {"complete", sessions && sessions->complete}};
  for (const auto* each : {"servers", "nodes_told_by", "sessions"}) document[each] = nullptr;
  document["notes"] = sessions ? note_array(sessions->notes) : json::array();
  if (sessions) {
    document["servers"] = array_of(sessions->servers, asked_server_object);
    document["nodes_told_by"] = or_null(sessions->nodes_told_by);
    document["sessions"] =
        array_of(sessions->found, [&](const auto& each) { return session_object(each, with_nodes, now); });
  }
  return json_line(document);
}

std::string to_tsv(const known_sessions& sessions, bool with_nodes, milliseconds now) {
  if (!sessions) return tsv_line("sessions", "unknown", "");
  auto text = tsv_line("sessions", sessions->complete ? "complete" : "incomplete", sessions->found.size(),
                       sessions->nodes_told_by);
  for (const auto& each : sessions->servers)
    text += tsv_line("server", each.server, to_string(each.source), each.sessions, each.why);
  for (const auto& each : sessions->found) text += session_lines(each, with_nodes, now);
  return text + note_lines(sessions->notes);
}

}  // namespace zkadmin
