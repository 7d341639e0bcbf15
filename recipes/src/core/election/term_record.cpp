#include "election/term_record.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "election/term_history.hpp"
#include "line/member_data.hpp"

namespace zkrecipes {

const char* to_string(term_phase phase) noexcept {
  switch (phase) {
    case term_phase::none: return "none";
    case term_phase::inaugurating: return "inaugurating";
    case term_phase::executing: return "executing";
    case term_phase::handing_over: return "handing_over";
    case term_phase::retired: return "retired";
    case term_phase::stalled: return "stalled";
    case term_phase::died: return "died";
    case term_phase::unknown: return "unknown";
  }
  return "?";
}

const char* to_string(takeover how) noexcept {
  switch (how) {
    case takeover::first: return "first";
    case takeover::clean: return "clean";
    case takeover::confirmed_late: return "confirmed_late";
    case takeover::forced: return "forced";
    case takeover::died: return "died";
  }
  return "?";
}

namespace detail {

namespace {

constexpr std::string_view term_kind = "term";
constexpr std::string_view candidate_kind = "candidate";
constexpr std::chrono::hours longest_deadline(24);
constexpr std::chrono::hours longest_aftermath(1);
constexpr auto last_phase = term_phase::died;  // of those that this version knows

/// The value that this text names, among those up to `last`; `otherwise` for a text of a later version.
template <class Enum>
Enum from_string(std::string_view text, Enum last, Enum otherwise) {
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    if (text == to_string(static_cast<Enum>(i))) return static_cast<Enum>(i);
  }
  return otherwise;
}

json_object to_json(const failure_streak& row) {
  json_object object;
  object.set("by", row.by).set("at_ms", row.at_ms);
  if (row.quarantines) object.set("quarantines", row.quarantines);
  return object;
}

failure_streak read_streak(const json_object& object) {
  failure_streak row;
  row.by = object.texts("by").value_or(std::vector<std::string>());
  row.at_ms = object.integer("at_ms", 0, latest_ms).value_or(0);
  row.quarantines = object.integer("quarantines", 0).value_or(0);
  return row;
}

/// One that can not be read counts as the whole deadline, which is what a leader without a guardian is given.
std::chrono::milliseconds aftermath_in(const json_object& leader, std::chrono::milliseconds deadline) {
  if (!leader.has("aftermath_ms")) return {};
  return leader.time("aftermath_ms", longest_aftermath).value_or(deadline);
}

const std::string_view election_markers[] = {"latch-", "lock-", "__lock__"};

}  // namespace

std::string serialize(const term_record& record) {
  json_object leader;
  leader.set("id", record.leader_id).set("node", record.leader_node).set("token", record.leader_token);
  if (record.began_ms > 0) leader.set("began_ms", record.began_ms);
  if (record.aftermath.count()) leader.set("aftermath_ms", record.aftermath.count());
  if (record.phase == term_phase::died) leader.set("died_in", to_string(record.died_in));
  auto object = json_object::of_kind(term_kind);
  object.set("epoch", record.epoch).set("phase", to_string(record.phase)).set("how", to_string(record.how));
  object.set("hand_over_deadline_ms", record.hand_over_deadline.count()).set("leader", leader);
  if (!record.history.empty()) object.set("history", record.history);
  if (record.deaths) object.set("deaths", record.deaths).set("struck", to_json(record.struck));
  if (record.notes != json_object()) {
    json_object notes;
    object.set("consumer", notes.set("epoch", record.epoch).add(record.notes));
  }
  return object.add(record.unknown_fields).to_text();
}

std::optional<term_record> parse_record(const std::string& data) try {
  if (data.empty()) return term_record{};
  const auto object = json_object::parse(data);
  if (!object || !object->is(term_kind)) return std::nullopt;
  term_record record;
  const auto leader = object->object("leader").value();
  record.epoch = object->integer("epoch", 0, last_epoch).value();
  record.phase = from_string(object->text("phase").value(), last_phase, term_phase::unknown);
  record.how = from_string(object->text("how").value(), takeover::died, takeover::forced);
  record.hand_over_deadline = object->time("hand_over_deadline_ms", longest_deadline).value();
  record.leader_id = leader.text("id").value();
  record.leader_node = leader.text("node").value();
  record.leader_token = leader.integer("token").value();
  record.began_ms = leader.integer("began_ms", 0, latest_ms).value_or(0);
  record.aftermath = aftermath_in(leader, record.hand_over_deadline);
  if (record.phase == term_phase::died) {
    record.died_in = from_string(leader.text("died_in").value_or(std::string()), last_phase, term_phase::unknown);
  }
  record.deaths = object->integer("deaths", 0).value_or(0);
  if (record.deaths) record.struck = read_streak(object->object("struck").value_or(json_object()));
  record.history = believable(object->texts("history").value_or(std::vector<std::string>()), record.epoch);
  record.unknown_fields = object->without(
      {"epoch", "phase", "how", "hand_over_deadline_ms", "leader", "deaths", "struck", "history", "consumer"});
  const auto notes = object->object("consumer").value_or(json_object());
  if (notes.integer("epoch") == record.epoch) record.notes = notes.without({"epoch"});
  return record;
} catch (const std::bad_optional_access&) {  // a field is missing, has another type, or is out of bounds
  return std::nullopt;
}

recorded_work work_in(const term_record& record) {
  recorded_work work;
  if (record.finished()) return work;
  const auto figures = record.notes.object("figures").value_or(json_object());
  work.held_off = figures.text("held_off").value_or(std::string());
  work.is_still = figures.flag("still").value_or(false);
  if (work.is_still) work.still_message = figures.text("still_message").value_or(std::string());
  return work;
}

std::optional<std::string> record_of_death(const std::string& data) {
  const auto record = parse_record(data);
  if (!record || record->finished() || record->phase == term_phase::unknown) return std::nullopt;
  auto object = json_object::parse(data).value();
  auto leader = object.object("leader").value();
  leader.set("died_in", to_string(record->phase));
  object.set("phase", to_string(term_phase::died)).set("leader", leader);
  return object.to_text();
}

line_spec election_line(std::string path, election_names names) {
  line_spec line{std::move(path), names == election_names::leader_latch ? "latch-" : "lock-", election_markers};
  line.one_by_one = true;
  return line;
}

std::string campaigner_data(const std::string& id) {
  return json_object::of_kind(candidate_kind).set("id", id).set_flag("keeps_record", false).to_text();
}

std::string candidate_data(const std::string& id, bool awaiting) {
  auto object = json_object::of_kind(candidate_kind);
  object.set("id", id).set_flag("keeps_record", true);
  if (awaiting) object.set_flag("awaiting", true);
  return object.to_text();
}

bool is_of_ours(const std::string& data) {
  const auto object = read_member(data);
  return object && object->text("id").has_value() && object->flag("keeps_record").has_value();
}

bool keeps_record(const std::string& data) { return has_flag(data, "keeps_record"); }
bool is_awaiting(const std::string& data) { return has_flag(data, "awaiting"); }

}  // namespace detail

}  // namespace zkrecipes
