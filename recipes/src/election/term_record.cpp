#include "election/term_record.hpp"

#include <array>
#include <limits>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace zkrecipes {

const char* to_string(term_phase phase) noexcept {
  switch (phase) {
    case term_phase::none: return "none";
    case term_phase::inaugurating: return "inaugurating";
    case term_phase::executing: return "executing";
    case term_phase::handing_over: return "handing_over";
    case term_phase::retired: return "retired";
    case term_phase::stalled: return "stalled";
  }
  return "?";
}

const char* to_string(takeover how) noexcept {
  switch (how) {
    case takeover::first: return "first";
    case takeover::clean: return "clean";
    case takeover::confirmed_late: return "confirmed_late";
    case takeover::forced: return "forced";
  }
  return "?";
}

namespace detail {

namespace json = boost::json;

namespace {

template <class Enum>
bool from_string(std::string_view text, Enum last, Enum& result) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (text != to_string(static_cast<Enum>(i))) continue;
    result = static_cast<Enum>(i);
    return true;
  }
  return false;
}

std::optional<json::object> parse_object(const std::string& data) {
  error_code error;
  json::parse_options options;
  options.allow_invalid_utf8 = true;  // an id can be any bytes that a user has chosen
  auto value = json::parse(data, error, {}, options);
  if (error || !value.is_object()) return std::nullopt;
  return std::move(value.as_object());
}

std::optional<json::object> parse_candidate(const std::string& data) {
  return data.empty() || data.front() != '{' ? std::nullopt : parse_object(data);
}

bool has_flag(const std::string& data, std::string_view name) {
  auto object = parse_candidate(data);
  const auto* value = object ? object->if_contains(name) : nullptr;
  return value && value->is_bool() && value->as_bool();
}

const std::string_view election_markers[] = {"latch-", "lock-", "__lock__"};

}  // namespace

std::string serialize(const term_record& record) {
  json::object leader{{"id", record.leader_id}, {"node", record.leader_node}, {"token", record.leader_token}};
  json::object object{{"zkrecipes", "term"},
                      {"epoch", record.epoch},
                      {"phase", to_string(record.phase)},
                      {"how", to_string(record.how)},
                      {"hand_over_deadline_ms", record.hand_over_deadline.count()},
                      {"leader", std::move(leader)}};
  return json::serialize(object);
}

std::optional<term_record> parse_record(const std::string& data) try {
  if (data.empty()) return term_record{};
  auto object = parse_object(data);
  if (!object || object->at("zkrecipes") != "term") return std::nullopt;
  term_record record;
  const auto& leader = object->at("leader").as_object();
  record.epoch = object->at("epoch").to_number<std::int64_t>();
  record.hand_over_deadline = std::chrono::milliseconds(object->at("hand_over_deadline_ms").to_number<std::int64_t>());
  record.leader_id = std::string(leader.at("id").as_string());
  record.leader_node = std::string(leader.at("node").as_string());
  record.leader_token = leader.at("token").to_number<std::int64_t>();
  bool known = from_string(object->at("phase").as_string(), term_phase::stalled, record.phase) &&
               from_string(object->at("how").as_string(), takeover::forced, record.how);
  bool sane = record.epoch >= 0 && record.epoch < std::numeric_limits<std::int64_t>::max() &&
              record.hand_over_deadline.count() >= 0 && record.hand_over_deadline <= std::chrono::hours(24);
  return known && sane ? std::optional(record) : std::nullopt;
} catch (const std::exception&) {  // a field is missing or has another type
  return std::nullopt;
}

line_spec election_line(std::string path, election_names names) {
  line_spec line{std::move(path), names == election_names::leader_latch ? "latch-" : "lock-", election_markers};
  line.one_by_one = true;
  return line;
}

std::string campaigner_data(const std::string& id) {
  json::object object{{"id", id}, {"keeps_record", false}};
  return json::serialize(object);
}

std::string candidate_data(const std::string& id, bool awaiting) {
  json::object object{{"id", id}, {"keeps_record", true}};
  if (awaiting) object["awaiting"] = true;
  return json::serialize(object);
}

bool is_of_ours(const std::string& data) {
  auto object = parse_candidate(data);
  const auto* id = object ? object->if_contains("id") : nullptr;
  const auto* keeps = object ? object->if_contains("keeps_record") : nullptr;
  return id && id->is_string() && keeps && keeps->is_bool();
}

bool keeps_record(const std::string& data) { return has_flag(data, "keeps_record"); }
bool is_awaiting(const std::string& data) { return has_flag(data, "awaiting"); }

}  // namespace detail

}  // namespace zkrecipes
