#include "election/term_history.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "format/whole_number.hpp"

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

}  // namespace zkrecipes
