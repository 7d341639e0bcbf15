#include "election/term_record.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "format/shown_text.hpp"
#include "line/line_spec.hpp"

namespace zkrecipes {

const char* to_string(term_outcome outcome) noexcept {
  switch (outcome) {
    case term_outcome::retired: return "retired";
    case term_outcome::confirmed_late: return "confirmed_late";
    case term_outcome::forced: return "forced";
    case term_outcome::stalled: return "stalled";
    case term_outcome::died: return "died";
    case term_outcome::unknown: return "unknown";
  }
  return "?";
}

namespace detail {

namespace {

constexpr std::size_t longest_id = 64;  // bytes of an entry in JSON, so that eight of them stay below 1.2 KiB
constexpr std::size_t longest_entry = 160;

using time_point = ended_term::time_point;

std::optional<time_point> to_time(std::int64_t ms) {
  if (ms <= 0 || ms > latest_ms) return std::nullopt;
  return time_point(std::chrono::milliseconds(ms));
}

/// Bytes that a byte of a text takes in JSON, at most.
std::size_t json_bytes(char byte) {
  if (static_cast<unsigned char>(byte) < 0x20) return 6;
  return byte == '"' || byte == '\\' ? 2 : 1;
}

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

/// The beginning of the id, without a part of a character.
std::string cut(const std::string& id) {
  std::size_t bytes = 0;
  std::size_t length = 0;
  while (length < id.size() && (bytes += json_bytes(id[length])) <= longest_id) ++length;
  if (length == id.size()) return id;
  while (length > 0 && continues_character(id[length])) --length;
  return id.substr(0, length);
}

std::size_t size_in_json(const std::string& text) {
  std::size_t bytes = 0;
  for (const char each : text) bytes += json_bytes(each);
  return bytes;
}

/// The words of an entry up to its last one, the id, which may be anything.
struct entry_words {
  std::array<std::string_view, 4> words;
  std::string_view id;
};

std::optional<entry_words> words_of(std::string_view entry) {
  entry_words split;
  for (auto& each : split.words) {
    const auto space = entry.find(' ');
    if (space == entry.npos) return std::nullopt;
    each = entry.substr(0, space);
    entry.remove_prefix(space + 1);
  }
  split.id = entry;
  return split;
}

term_outcome outcome_named(std::string_view word) {
  for (int i = 0; i < static_cast<int>(term_outcome::unknown); ++i) {
    if (word == to_string(static_cast<term_outcome>(i))) return static_cast<term_outcome>(i);
  }
  return term_outcome::unknown;
}

std::optional<ended_term> parse_entry(const std::string& entry) {
  const auto split = words_of(entry);
  if (!split) return std::nullopt;
  const auto epoch = parse_whole<std::int64_t>(split->words[0]);
  const auto began = parse_whole<std::int64_t>(split->words[1]);
  const auto ended = parse_whole<std::int64_t>(split->words[2]);
  if (!epoch || !began || !ended || *epoch == 0) return std::nullopt;
  return ended_term{*epoch, std::string(split->id), to_time(*began), to_time(*ended), outcome_named(split->words[3])};
}

term_outcome outcome_of(const term_record& term, takeover how) {
  if (term.phase == term_phase::stalled) return term_outcome::stalled;
  if (term.phase == term_phase::died) return term_outcome::died;
  if (!term.finished()) return term_outcome::forced;
  return how == takeover::confirmed_late ? term_outcome::confirmed_late : term_outcome::retired;
}

void keep_last(std::vector<std::string>& entries) {
  const auto more = entries.size() - std::min(entries.size(), most_ended_terms);
  entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(more));
}

}  // namespace

std::int64_t beginning_of(const term_record& record, std::int64_t written_ms) {
  if (record.began_ms > 0) return record.began_ms;
  return record.phase == term_phase::inaugurating ? std::max<std::int64_t>(written_ms, 0) : 0;
}

std::vector<std::string> history_after(const term_record& before, takeover how, std::int64_t ended_ms) {
  auto history = before.history;
  if (before.epoch == 0 || before.phase == term_phase::none) return history;
  const auto ended = before.finished() ? std::max<std::int64_t>(ended_ms, 0) : 0;
  history.push_back(std::to_string(before.epoch) + ' ' + std::to_string(beginning_of(before, ended_ms)) + ' ' +
                    std::to_string(ended) + ' ' + to_string(outcome_of(before, how)) + ' ' + cut(before.leader_id));
  keep_last(history);
  return history;
}

std::vector<std::string> believable(const std::vector<std::string>& entries, std::int64_t epoch) {
  std::vector<std::string> kept;
  std::int64_t last = 0;
  for (const auto& each : entries) {
    const auto term = size_in_json(each) <= longest_entry ? parse_entry(each) : std::nullopt;
    if (!term || term->epoch <= last || term->epoch >= epoch) continue;
    last = term->epoch;
    kept.push_back(each);
  }
  keep_last(kept);
  return kept;
}

std::vector<ended_term> read_history(const term_record& record, std::int64_t written_ms) {
  std::vector<ended_term> terms;
  for (const auto& each : record.history) {
    if (auto term = parse_entry(each)) terms.push_back(std::move(*term));
  }
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const bool is_last = i + 1 == terms.size();
    const auto next = is_last ? record.epoch : terms[i + 1].epoch;
    const auto next_began = is_last ? to_time(beginning_of(record, written_ms)) : terms[i + 1].began;
    if (!terms[i].ended && next == terms[i].epoch + 1) terms[i].ended = next_began;
  }
  return terms;
}

}  // namespace detail

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
