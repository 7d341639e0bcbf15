#include "sessions/session_answers.hpp"

#include <algorithm>
#include <utility>

#include <boost/json/value.hpp>

#include "base/text.hpp"
#include "servers/admin_client.hpp"

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

bool add_nodes(told_owners& told, std::string_view name, const json::value& value) {
  const auto id = read_number<std::int64_t>(name);
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

namespace {

using std::chrono::milliseconds;

/// "0x10000c840db0000".
std::optional<std::int64_t> session_id_in(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  const auto id = read_number<std::uint64_t>(text.substr(2), 16);
  return id ? std::optional(static_cast<std::int64_t>(*id)) : std::nullopt;
}

std::optional<milliseconds> time_in_text(std::string_view text) {
  const auto value = read_number<std::int64_t>(text);
  return value && *value >= 0 ? std::optional(milliseconds(*value)) : std::nullopt;
}

/// The next line without its end. The text must not be empty.
std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return line;
}

/// Why this is no answer to the word at all; empty: it may be one.
std::string refusal_of(std::string_view answer, const char* word) {
  if (answer.empty()) return "it closed the connection without an answer (a port for TLS only?)";
  if (answer.find("is not in the whitelist") != answer.npos)
    return std::string("it does not allow ") + word + "; add to its zoo.cfg: 4lw.commands.whitelist=srvr," +
           (word == std::string_view("conf") ? "conf,cons,dump" : "cons,dump");
  if (answer.find("not currently serving requests") != answer.npos)
    return "not serving requests: no quorum, or still starting";
  return {};
}

std::string garbage(std::string_view answer) {
  return "it answered \"" + printable(answer.substr(0, shown_of_garbage)) + "\"";
}

void read_value(session_status& one, std::string_view name, std::string_view value) {
  if (name == "sid") one.id = session_id_in(value).value_or(0);
  if (name == "queued") one.outstanding = read_number<std::int64_t>(value);
  if (name == "recved") one.received = read_number<std::int64_t>(value);
  if (name == "sent") one.sent = read_number<std::int64_t>(value);
  if (name == "lop") one.last_operation = std::string(value);
  if (name == "est") one.established = time_in_text(value);
  if (name == "to") one.timeout = time_in_text(value);
  if (name == "lresp") one.idle = time_in_text(value);  // by the server's clock: made relative later
  if (name == "llat") one.last_latency = time_in_text(value);
}

/// "/127.0.0.1:41884[1](queued=0,recved=8,sid=0x1000,...)"; nothing: it is something else.
std::optional<session_status> connection_in(std::string_view line) {
  const auto open = line.find("](");
  const auto flags = open == line.npos ? open : line.rfind('[', open);
  if (flags == line.npos || !line.ends_with(')')) return std::nullopt;
  session_status one;
  const auto address = line.substr(0, flags);
  one.client = std::string(address.substr(address.rfind('/') + 1));
  auto values = line.substr(open + 2, line.size() - open - 3);
  while (!values.empty()) {
    const auto end = values.find(',');
    const auto pair = values.substr(0, end);
    const auto equals = pair.find('=');
    if (equals != pair.npos) read_value(one, pair.substr(0, equals), pair.substr(equals + 1));
    values.remove_prefix(end == values.npos ? values.size() : end + 1);
  }
  return one;
}

/// Reads `dump` line by line. Its parts have a heading each.
class dump_reader {
 public:
  void read(std::string_view line) {
    if (line == "SessionTracker dump:") {
      part_ = part::sessions;
    } else if (line == "ephemeral nodes dump:") {
      part_ = part::nodes;
    } else if (line == "Connections dump:") {
      part_ = part::connections;
    } else if (part_ == part::sessions) {
      read_session(without_blanks(line));
    } else if (part_ == part::nodes) {
      read_node(line);
    }
  }

  told_owners result(std::string_view answer) {
    if (part_ == part::none) {
      told_.trouble = garbage(answer);
      return std::move(told_);
    }
    told_.is_answer = part_ != part::sessions;
    if (!told_.is_answer) told_.nodes.clear();  // the parts stand in another order than servers write them
    const bool is_whole = part_ == part::connections && told_.nodes.size() == announced_;
    if (!is_whole) told_.trouble = "its answer to dump is cut off";
    if (is_whole && is_strange_) told_.trouble = "some of its ephemeral nodes can not be understood";
    return std::move(told_);
  }

 private:
  enum class part { none, sessions, nodes, connections };

  /// "0x10000c840db0000", and "8000ms" behind it on servers that do not lead.
  void read_session(std::string_view line) {
    const auto end = line.find_first_of(" \t");
    const auto id = session_id_in(line.substr(0, end));
    if (!id) return;
    auto rest = end == line.npos ? std::string_view() : without_blanks(line.substr(end));
    if (rest.ends_with("ms")) rest.remove_suffix(2);
    told_.sessions[*id] = time_in_text(rest);
  }

  /// "Sessions with Ephemerals (1):", then "0x10000c840db0000:" and a line for each path, behind a tab.
  void read_node(std::string_view line) {
    constexpr std::string_view heading = "Sessions with Ephemerals (";
    if (line.starts_with(heading)) {
      auto count = line.substr(heading.size());
      announced_ = read_number<std::size_t>(count.substr(0, count.find(')'))).value_or(announced_);
    } else if (line.starts_with("\t/")) {
      if (owner_) told_.nodes[*owner_].emplace_back(line.substr(1));
      is_strange_ |= !owner_;
    } else if (line.ends_with(':')) {
      owner_ = session_id_in(line.substr(0, line.size() - 1));
      if (owner_) told_.nodes[*owner_];
      is_strange_ |= !owner_;
    } else {
      is_strange_ |= !without_blanks(line).empty();
    }
  }

  told_owners told_;
  part part_ = part::none;
  std::size_t announced_ = 0;
  std::optional<std::int64_t> owner_;
  bool is_strange_ = false;
};

}  // namespace

server_identity parse_conf(std::string_view answer) {
  server_identity told{refusal_of(answer, "conf")};
  if (!told.trouble.empty()) return told;
  std::optional<std::int64_t> port;
  for (auto rest = answer; !rest.empty();) {
    const auto line = without_blanks(take_line(rest));
    const auto name = line.substr(0, line.find('='));
    if (name.size() == line.size()) continue;
    const auto value = line.substr(name.size() + 1);
    if (name == "clientPort") port = read_number<std::int64_t>(value);
    if (name == "dataDir") told.data_dir = std::string(value);
  }
  told.client_port = port.value_or(0);
  if (!port || told.data_dir.empty()) told.trouble = garbage(answer);
  return told;
}

told_connections parse_cons(std::string_view answer) {
  told_connections told;
  told.trouble = refusal_of(answer, "cons");
  if (!told.trouble.empty()) return told;
  const bool is_whole = answer.ends_with("\n\n") || answer == "\n";
  bool are_known = true;
  for (auto rest = answer; !rest.empty();) {
    const auto line = without_blanks(take_line(rest));
    if (line.empty()) continue;
    auto one = connection_in(line);
    are_known &= one.has_value();
    told.is_answer |= one.has_value();
    if (one && one->id != 0) told.sessions.push_back(std::move(*one));
  }
  told.is_answer |= is_whole && are_known;
  if (!told.is_answer)
    told.trouble = garbage(answer);
  else if (!is_whole)
    told.trouble = "its answer to cons is cut off";
  else if (!are_known)
    told.trouble = "some lines of its answer to cons can not be understood";
  return told;
}

told_owners parse_dump(std::string_view answer) {
  told_owners told;
  told.trouble = refusal_of(answer, "dump");
  if (!told.trouble.empty()) return told;
  dump_reader reader;
  for (auto rest = answer; !rest.empty();) reader.read(take_line(rest));
  return reader.result(answer);
}

}  // namespace zkadmin
