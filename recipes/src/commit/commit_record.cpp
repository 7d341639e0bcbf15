#include "commit/commit_record.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace zkrecipes {

const char* to_string(decision what) noexcept {
  switch (what) {
    case decision::pending: return "pending";
    case decision::committed: return "committed";
    case decision::aborted: return "aborted";
  }
  return "?";
}

namespace detail {

namespace json = boost::json;

namespace {

/// \throws std::exception if it is not an object.
json::object parse_object(const std::string& data) {
  json::parse_options options;
  options.allow_invalid_utf8 = true;  // data and reasons are the user's text and need not be UTF-8
  return std::move(json::parse(data, {}, options).as_object());
}

std::string text(const json::object& object, std::string_view name) { return std::string(object.at(name).as_string()); }

bool is_name(std::string_view name) {
  auto is_bad = [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '/'; };
  return !name.empty() && name.size() <= 256 && std::none_of(name.begin(), name.end(), is_bad);
}

}  // namespace

bool commit_record::names(const std::string& participant) const {
  return std::find(participants.begin(), participants.end(), participant) != participants.end();
}

std::string serialize(const commit_record& record) {
  json::object object{{"zkrecipes", "commit"},
                      {"by", record.by},
                      {"participants", json::array(record.participants.begin(), record.participants.end())},
                      {"data", record.data},
                      {"decision", to_string(record.outcome.decision)},
                      {"reason", record.outcome.reason}};
  return json::serialize(object);
}

std::optional<commit_record> parse_commit(const std::string& data) try {
  const auto object = parse_object(data);
  if (object.at("zkrecipes") != "commit") return std::nullopt;
  commit_record record;
  record.by = text(object, "by");
  for (const auto& each : object.at("participants").as_array()) record.participants.emplace_back(each.as_string());
  record.data = text(object, "data");
  record.outcome.reason = text(object, "reason");
  for (auto each : {decision::pending, decision::committed, decision::aborted}) {
    record.outcome.decision = each;
    if (text(object, "decision") == to_string(each)) return record;
  }
  return std::nullopt;
} catch (const std::exception&) {  // no JSON; a field is missing or has another type
  return std::nullopt;
}

std::string serialize(const commit_vote& vote) {
  json::object object{{"vote", vote.ballot == ballot::yes ? "yes" : "no"}, {"reason", vote.reason}};
  return json::serialize(object);
}

std::optional<commit_vote> parse_vote(const std::string& data) try {
  const auto object = parse_object(data);
  commit_vote vote;
  vote.ballot = object.at("vote") == "yes" ? ballot::yes : ballot::no;
  vote.reason = text(object, "reason");
  return vote;
} catch (const std::exception&) {
  return std::nullopt;
}

bool is_transaction_id(std::string_view id) { return is_name(id) && id.front() != '_' && id != "." && id != ".."; }
bool is_participant(std::string_view name) { return is_name(name); }

std::string vote_node(const std::string& node, const std::string& participant) {
  return join(node, "vote-" + participant);
}

std::vector<std::string> missing_votes(const commit_record& record, const std::vector<std::string>& children) {
  std::vector<std::string> missing;
  for (const auto& each : record.participants) {
    if (std::find(children.begin(), children.end(), "vote-" + each) == children.end()) missing.push_back(each);
  }
  return missing;
}

}  // namespace detail

}  // namespace zkrecipes
