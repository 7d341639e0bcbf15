#include "backend/guardian/guardian_message.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "format/json_object.hpp"
#include "format/shown_text.hpp"

namespace zkrecipes::backend {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

}  // namespace

std::string to_hex(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::optional<std::string> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const auto high = digits.find(text[i]);
    const auto low = digits.find(text[i + 1]);
    if (high == digits.npos || low == digits.npos) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

std::string session_to_hex(std::int64_t id) {
  std::array<char, 16> text{};
  const auto end = std::to_chars(text.begin(), text.end(), static_cast<std::uint64_t>(id), 16).ptr;
  return {text.begin(), end};
}

std::optional<std::int64_t> session_from_hex(std::string_view text) {
  if (text.empty() || text.size() > 16 || text.find_first_not_of(digits) != text.npos) return std::nullopt;
  std::uint64_t id = 0;
  std::from_chars(text.data(), text.data() + text.size(), id, 16);
  return id != 0 ? std::optional(static_cast<std::int64_t>(id)) : std::nullopt;
}

using detail::json_object;
using std::chrono::milliseconds;

namespace {

constexpr std::int64_t protocol_version = 1;
constexpr std::size_t digits_of_client = 32;
constexpr std::size_t longest_name = 1024;
constexpr std::size_t longest_host = 255;
constexpr std::size_t longest_session_password = 256;
constexpr std::size_t longest_told_reason = 500;
constexpr milliseconds longest_session_timeout{24 * 3'600'000};

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](char each) { return static_cast<unsigned char>(each) < 0x20 || each == 0x7f; });
}

/// Whether the C client may be given this path: it frees memory that is not its own if one of several is malformed.
bool is_node_path(std::string_view path) {
  if (path.size() < 2 || path.size() > longest_path || path.front() != '/' || has_control(path)) return false;
  for (std::size_t begin = 1; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return true;
}

bool is_short_name(std::string_view text) { return !text.empty() && text.size() <= longest_name && !has_control(text); }

/// Reads the fields of one message, and notes the first one that is wrong.
class field_reader {
 public:
  explicit field_reader(const json_object& from) : from_(from) {}

  const std::string& problem() const { return problem_; }

  std::int64_t session(std::string_view name) { return parsed(name, &session_from_hex); }
  std::string bytes(std::string_view name, std::size_t longest) {
    auto value = parsed(name, &from_hex);
    if (value.size() > longest) reject(name);
    return value;
  }
  std::string path(std::string_view name) { return checked(name, &is_node_path); }
  std::string name(std::string_view name) { return checked(name, &is_short_name); }
  milliseconds time(std::string_view name, milliseconds shortest, milliseconds longest) {
    const auto value = from_.time(name, longest);
    if (!value || *value < shortest) reject(name);
    return value.value_or(milliseconds(0));
  }
  template <class Element>
  std::vector<Element> list(std::string_view name, std::size_t most, std::optional<Element> (*read)(std::string_view)) {
    std::vector<Element> all;
    const auto texts = from_.texts(name);
    if (!texts || texts->size() > most) reject(name);
    if (!problem_.empty()) return all;
    for (const auto& each : *texts) {
      auto element = read(each);
      if (!element) reject(name);
      if (element) all.push_back(std::move(*element));
    }
    return all;
  }
  void reject(std::string_view name) {
    if (problem_.empty()) problem_ = "the field \"" + std::string(name) + "\"";
  }

 private:
  std::string checked(std::string_view name, bool (*is_good)(std::string_view)) {
    auto value = from_.text(name);
    if (!value || !is_good(*value)) reject(name);
    return value.value_or(std::string());
  }
  template <class Value>
  Value parsed(std::string_view name, std::optional<Value> (*read)(std::string_view)) {
    const auto text = from_.text(name);
    auto value = text ? read(*text) : std::nullopt;
    if (!value) reject(name);
    return value ? std::move(*value) : Value();
  }

  const json_object& from_;
  std::string problem_;
};

std::optional<endpoint> read_server(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == text.npos) return std::nullopt;
  auto host = text.substr(0, colon);
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  const auto port = detail::parse_whole<std::uint16_t>(text.substr(colon + 1));
  const bool is_host =
      !host.empty() && host.size() <= longest_host && !has_control(host) && host.find_first_of(" ,/[]") == host.npos;
  if (!is_host || !port || *port == 0) return std::nullopt;
  return endpoint{std::string(host), *port};
}

std::optional<credentials> read_digest(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == text.npos || colon == 0 || colon > longest_name) return std::nullopt;
  const auto user = text.substr(0, colon);
  auto secret = from_hex(text.substr(colon + 1));
  if (!secret || secret->size() > longest_name || user.find('\0') != user.npos) return std::nullopt;
  if (secret->find('\0') != secret->npos) return std::nullopt;
  return credentials{std::string(user), std::move(*secret)};
}

guardian_message read_hello(const json_object& from, field_reader& fields) {
  guardian_hello hello;
  if (from.integer("version") != protocol_version) fields.reject("version");
  const auto client = from.text("client");
  if (!client || client->size() != digits_of_client || !from_hex(*client)) fields.reject("client");
  hello.client = client.value_or(std::string());
  hello.hang_limit = fields.time("hang_limit_ms", milliseconds(0), longest_hang_limit);
  if (hello.hang_limit.count() && hello.hang_limit < shortest_hang_limit) fields.reject("hang_limit_ms");
  return hello;
}

guardian_message read_session(const json_object&, field_reader& fields) {
  guarded_session session;
  session.key.id = fields.session("id");
  session.key.password = fields.bytes("password", longest_session_password);
  session.key.timeout = fields.time("timeout_ms", milliseconds(1), longest_session_timeout);
  session.servers = fields.list("servers", most_guarded_servers, &read_server);
  if (session.servers.empty()) fields.reject("servers");
  session.digest = fields.list("digest", most_guarded_digests, &read_digest);
  return session;
}

guardian_message read_session_end(const json_object&, field_reader& fields) {
  return guarded_session_end{fields.session("id")};
}

guardian_message read_term(const json_object& from, field_reader& fields) {
  guarded_term term{fields.session("session"), fields.path("record"), fields.name("node"), {}};
  if (from.has("seat")) term.seat = fields.path("seat");
  return term;
}

guardian_message read_term_end(const json_object&, field_reader& fields) {
  return guarded_term_end{fields.session("session"), fields.path("record"), fields.name("node")};
}

guardian_message read_complete(const json_object&, field_reader&) { return guardian_complete(); }
guardian_message read_ping(const json_object&, field_reader&) { return guardian_ping(); }

struct message_type {
  std::string_view name;
  guardian_message (*read)(const json_object&, field_reader&);
};

constexpr std::array message_types{message_type{"hello", &read_hello},
                                   message_type{"session", &read_session},
                                   message_type{"session_end", &read_session_end},
                                   message_type{"term", &read_term},
                                   message_type{"term_end", &read_term_end},
                                   message_type{"complete", &read_complete},
                                   message_type{"ping", &read_ping}};

json_object of_type(std::string_view type) { return std::move(json_object().set("type", type)); }

json_object written(const guardian_hello& from) {
  auto to = of_type("hello");
  to.set("version", protocol_version).set("client", from.client).set("hang_limit_ms", from.hang_limit.count());
  return to;
}

json_object written(const guarded_session& from) {
  std::vector<std::string> servers, digest;
  for (const auto& each : from.servers) servers.push_back(to_string(each));
  for (const auto& each : from.digest) digest.push_back(each.user + ":" + to_hex(each.password));
  auto to = of_type("session");
  to.set("id", session_to_hex(from.key.id)).set("password", to_hex(from.key.password));
  to.set("timeout_ms", from.key.timeout.count()).set("servers", servers).set("digest", digest);
  return to;
}

json_object written(const guarded_session_end& from) {
  return std::move(of_type("session_end").set("id", session_to_hex(from.id)));
}

json_object written(const guarded_term& from) {
  auto to = of_type("term");
  to.set("session", session_to_hex(from.session)).set("record", from.record).set("node", from.node);
  if (!from.seat.empty()) to.set("seat", from.seat);
  return to;
}

json_object written(const guarded_term_end& from) {
  auto to = of_type("term_end");
  to.set("session", session_to_hex(from.session)).set("record", from.record).set("node", from.node);
  return to;
}

json_object written(const guardian_complete&) { return of_type("complete"); }
json_object written(const guardian_ping&) { return of_type("ping"); }

std::string_view name_of(guardian_answer::kind type) {
  switch (type) {
    case guardian_answer::kind::held: return "held";
    case guardian_answer::kind::full: return "full";
    case guardian_answer::kind::refused: return "refused";
  }
  return "refused";
}

}  // namespace

bool operator==(const guarded_session& one, const guarded_session& other) {
  const auto is_same = [](const credentials& a, const credentials& b) {
    return a.user == b.user && a.password == b.password;
  };
  return one.key.id == other.key.id && one.key.password == other.key.password && one.key.timeout == other.key.timeout &&
         one.servers == other.servers && std::ranges::equal(one.digest, other.digest, is_same);
}

read_message parse_guardian_message(std::string_view line) {
  if (line.size() >= longest_line) return {std::nullopt, "the line is too long"};
  const auto object = json_object::parse(line);
  if (!object) return {std::nullopt, "the line is not a JSON object"};
  const auto type = object->text("type");
  const auto known = std::ranges::find_if(message_types, [&](const message_type& each) { return each.name == type; });
  if (known == message_types.end()) return {std::nullopt, "the field \"type\""};
  field_reader fields(*object);
  auto message = known->read(*object, fields);
  if (!fields.problem().empty()) return {std::nullopt, std::string(known->name) + ": " + fields.problem()};
  return {std::move(message), {}};
}

std::optional<std::string> to_line(const guardian_message& message) {
  auto line = std::visit([](const auto& each) { return written(each).to_text(); }, message);
  const bool is_good = line.size() < longest_line && parse_guardian_message(line).message == message;
  if (!is_good) return std::nullopt;
  line += '\n';
  return line;
}

std::optional<guardian_answer> parse_guardian_answer(std::string_view line) {
  if (line.size() >= longest_line) return std::nullopt;
  const auto object = json_object::parse(line);
  const auto type = object ? object->text("type") : std::nullopt;
  for (const auto each : {guardian_answer::kind::held, guardian_answer::kind::full, guardian_answer::kind::refused}) {
    if (type != name_of(each)) continue;
    const auto reason = object->text("reason").value_or(std::string()).substr(0, longest_told_reason);
    const auto sessions = object->integer("sessions", 0), terms = object->integer("terms", 0);
    guardian_answer answer{each, detail::shown_text(reason)};
    if (sessions && terms) answer.count = {static_cast<std::size_t>(*sessions), static_cast<std::size_t>(*terms)};
    return answer;
  }
  return std::nullopt;
}

std::string to_line(const guardian_answer& answer) {
  auto to = of_type(name_of(answer.type));
  if (!answer.reason.empty()) to.set("reason", answer.reason.substr(0, longest_told_reason));
  if (answer.count) {
    to.set("sessions", static_cast<std::int64_t>(answer.count->sessions));
    to.set("terms", static_cast<std::int64_t>(answer.count->terms));
  }
  return to.to_text() + '\n';
}

std::string shown_session(std::int64_t id) { return "0x" + session_to_hex(id); }

}  // namespace zkrecipes::backend
