#include <algorithm>
#include <charconv>

#include <boost/json/value.hpp>

#include "cluster/admin_object.hpp"
#include "cluster/session_answers.hpp"

namespace zkadmin {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

std::optional<std::int64_t> integer_in(const json::object& object, const char* name) {
  const auto* value = object.if_contains(name);
  return value && value->is_int64() ? std::optional(value->as_int64()) : std::nullopt;
}

/// A time below 0 means nothing.
std::optional<milliseconds> time_in(const json::object& object, const char* name) {
  const auto value = integer_in(object, name);
  return value && *value >= 0 ? std::optional(milliseconds(*value)) : std::nullopt;
}

std::string text_in(const json::object& object, const char* name) {
  const auto* value = object.if_contains(name);
  return value && value->is_string() ? std::string(value->as_string()) : std::string();
}

/// A connection without a session is one that asks a four-letter word. False: this is no connection.
bool add_connection(told_connections& told, const json::value& value) {
  const auto* object = value.if_object();
  if (!object) return false;
  const auto id = integer_in(*object, "session_id");
  if (!id || *id == 0) return !object->if_contains("session_id") || id;
  session_status one;
  one.id = *id;
  const auto address = text_in(*object, "remote_socket_address");
  one.client = address.substr(address.rfind('/') + 1);
  one.timeout = time_in(*object, "session_timeout");
  one.established = time_in(*object, "established");
  one.outstanding = integer_in(*object, "outstanding_requests");
  one.received = integer_in(*object, "packets_received");
  one.sent = integer_in(*object, "packets_sent");
  one.last_operation = text_in(*object, "last_operation");
  one.last_latency = time_in(*object, "last_latency");
  one.idle = time_in(*object, "last_response_time");  // by the server's clock: made relative below
  told.sessions.push_back(std::move(one));
  return true;
}

std::optional<std::int64_t> decimal_id(std::string_view text) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return id;
}

bool add_nodes(told_owners& told, std::string_view name, const json::value& value) {
  const auto id = decimal_id(name);
  const auto* paths = value.if_array();
  if (!id || !paths) return false;
  auto& nodes = told.nodes[*id];
  bool are_all_paths = true;
  for (const auto& each : *paths) {
    const auto* path = each.if_string();
    are_all_paths &= path && path->starts_with('/');
    if (path && path->starts_with('/')) nodes.emplace_back(*path);
  }
  return are_all_paths;
}

bool add_sessions(told_owners& told, const json::value& value) {
  const auto* ids = value.if_array();
  if (!ids) return false;
  for (const auto& each : *ids) {
    if (!each.is_int64()) return false;
    told.sessions.try_emplace(each.as_int64());
  }
  return true;
}

}  // namespace

std::string doubts_about_admin(std::string_view body, const server_identity& server) {
  std::string trouble;
  const auto object = admin_object(body, "configuration", trouble);
  if (!object) return trouble;
  const auto told = integer_in(*object, "client_port");
  if (!told) return "it does not tell its client port";
  if (*told != server.client_port) return "it is that of the server with the client port " + std::to_string(*told);
  const bool is_other = !server.data_dir.empty() && text_in(*object, "data_dir") != server.data_dir;
  return is_other ? "it is that of a server with another data directory" : "";
}

told_connections parse_admin_connections(std::string_view body) {
  told_connections told;
  const auto object = admin_object(body, "connections", told.trouble);
  if (!object) return told;
  const auto* plain = object->if_contains("connections");
  told.is_answer = plain && plain->is_array();
  if (!told.is_answer) told.trouble = "its answer has no list of connections";
  bool are_known = true;
  for (const char* name : {"connections", "secure_connections"}) {
    const auto* list = object->if_contains(name);
    if (!told.is_answer || !list || !list->is_array()) continue;
    for (const auto& each : list->as_array()) are_known &= add_connection(told, each);
  }
  if (!are_known) told.trouble = "some of its connections can not be understood";
  return told;
}

told_owners parse_admin_dump(std::string_view body) {
  told_owners told;
  const auto object = admin_object(body, "dump", told.trouble);
  if (!object) return told;
  const auto* nodes = object->if_contains("session_id_to_ephemeral_paths");
  told.is_answer = nodes && nodes->is_object();
  if (!told.is_answer) {
    told.trouble = "its answer has no list of ephemeral nodes";
    return told;
  }
  bool are_known = true;
  for (const auto& [id, paths] : nodes->as_object())
    are_known &= add_nodes(told, std::string_view(id.data(), id.size()), paths);
  const auto* sessions = object->if_contains("expiry_time_to_session_ids");
  if (sessions && sessions->is_object())
    for (const auto& each : sessions->as_object()) are_known &= add_sessions(told, each.value());
  if (!are_known) told.trouble = "some of its ephemeral nodes can not be understood";
  return told;
}

}  // namespace zkadmin
