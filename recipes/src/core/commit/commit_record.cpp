#include "commit/commit_record.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "session/paths.hpp"

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

namespace {

constexpr std::string_view transaction_kind = "commit";
constexpr std::string_view vote_kind = "vote";

/// Nothing if it is none of these: a decision has no other values.
std::optional<decision> decision_named(std::string_view text) {
  for (auto each : {decision::pending, decision::committed, decision::aborted}) {
    if (text == to_string(each)) return each;
  }
  return std::nullopt;
}

bool is_name(std::string_view name) {
  auto is_bad = [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '/'; };
  return !name.empty() && name.size() <= 256 && std::none_of(name.begin(), name.end(), is_bad);
}

}  // namespace

bool commit_record::names(const std::string& participant) const {
  return std::find(participants.begin(), participants.end(), participant) != participants.end();
}

std::string serialize(const commit_record& record) {
  auto object = json_object::of_kind(transaction_kind);
  object.set("by", record.by).set("participants", record.participants).set("data", record.data);
  object.set("decision", to_string(record.outcome.decision)).set("reason", record.outcome.reason);
  return object.add(record.unknown_fields).to_text();
}

std::optional<commit_record> parse_commit(const std::string& data) try {
  const auto object = json_object::parse(data);
  if (!object || !object->is(transaction_kind)) return std::nullopt;
  commit_record record;
  record.by = object->text("by").value();
  record.participants = object->texts("participants").value();
  record.data = object->text("data").value();
  record.outcome.decision = decision_named(object->text("decision").value()).value();
  record.outcome.reason = object->text("reason").value();
  record.unknown_fields = object->without({"by", "participants", "data", "decision", "reason"});
  return record;
} catch (const std::bad_optional_access&) {  // a field is missing or has another type
  return std::nullopt;
}

std::string serialize(const commit_vote& vote) {
  auto object = json_object::of_kind(vote_kind);
  return object.set("vote", vote.ballot == ballot::yes ? "yes" : "no").set("reason", vote.reason).to_text();
}

std::optional<commit_vote> parse_vote(const std::string& data) {
  const auto object = json_object::parse(data);
  const bool is_vote = object && (object->is(vote_kind) || !object->is_marked());  // older versions made no mark
  auto reason = is_vote && object->has("vote") ? object->text("reason") : std::nullopt;
  if (!reason) return std::nullopt;
  commit_vote vote;
  vote.ballot = object->text("vote") == "yes" ? ballot::yes : ballot::no;
  vote.reason = std::move(*reason);
  return vote;
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
