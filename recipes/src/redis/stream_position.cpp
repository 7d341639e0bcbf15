#include "redis/stream_position.hpp"

#include <iterator>
#include <utility>
#include <vector>

#include "format/shown_text.hpp"
#include "source/failed_attempts.hpp"

namespace zkrecipes::detail {

namespace {

std::optional<std::uint64_t> part_of_id(std::string_view text) {
  const bool is_usual = text.size() == 1 || !text.starts_with('0');
  return is_usual ? parse_whole<std::uint64_t>(text) : std::nullopt;
}

}  // namespace

std::string to_string(const stream_id& id) { return std::to_string(id.ms) + '-' + std::to_string(id.sequence); }

std::optional<stream_id> parse_stream_id(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == text.npos) return std::nullopt;
  const auto ms = part_of_id(text.substr(0, dash));
  const auto sequence = part_of_id(text.substr(dash + 1));
  return ms && sequence ? std::optional(stream_id{*ms, *sequence}) : std::nullopt;
}

namespace {

constexpr std::string_view stream_position_kind = "stream_position";

std::vector<std::string> range_texts(const stream_position::ranges& all) {
  std::vector<std::string> texts;
  for (const auto& [first, last] : all) {
    texts.push_back(to_string(first));
    if (last != first) texts.back() += ' ' + to_string(last);
  }
  return texts;
}

/// The ranges are in order, behind `last`, and do not overlap.
bool read_ranges(const std::vector<std::string>& texts, stream_position& into) {
  for (const auto& each : texts) {
    const std::string_view text(each);
    const auto blank = text.find(' ');
    const auto first = parse_stream_id(text.substr(0, blank));
    const auto last = blank == text.npos ? first : parse_stream_id(text.substr(blank + 1));
    if (!first || !last || *last < *first || *first <= into.farthest()) return false;
    into.ahead.emplace(*first, *last);
  }
  return true;
}

bool read_failed(const std::vector<std::string>& texts, stream_position& into) {
  for (const auto& each : texts) {
    auto read = parse_failed_attempts(each);
    const auto which = read ? parse_stream_id(read->first) : std::nullopt;
    if (!which) return false;
    into.failed[*which] = read->second;
  }
  return true;
}

std::optional<std::vector<std::string>> texts_or_none(const json_object& of, std::string_view name) {
  return of.has(name) ? of.texts(name) : std::vector<std::string>();
}

}  // namespace

bool stream_position::is_settled(const stream_id& which) const {
  if (which <= last) return true;
  const auto behind = ahead.upper_bound(which);
  return behind != ahead.begin() && std::prev(behind)->second >= which;
}

std::string serialize(const stream_position& position) {
  auto all = json_object::of_kind(stream_position_kind);
  all.set("last", to_string(position.last));
  if (!position.ahead.empty()) all.set("ahead", range_texts(position.ahead));
  std::vector<std::string> failed;
  for (const auto& [which, attempts] : position.failed) failed.push_back(failed_text(to_string(which), attempts));
  if (!failed.empty()) all.set("failed", failed);
  if (!position.seek.empty()) all.set("seek", position.seek);
  return all.add(position.unknown_fields).to_text();
}

std::optional<stream_position> parse_stream_position(std::string_view text) {
  const auto read = json_object::parse(text);
  if (!read || !read->is(stream_position_kind)) return std::nullopt;
  stream_position position;
  const auto last = parse_stream_id(read->text("last").value_or(""));
  const auto ahead = texts_or_none(*read, "ahead");
  const auto failed = texts_or_none(*read, "failed");
  const auto seek = read->has("seek") ? read->text("seek") : std::string();
  if (!last || !ahead || !failed || !seek) return std::nullopt;
  position.last = *last;
  position.seek = *seek;
  if (!read_ranges(*ahead, position) || !read_failed(*failed, position)) return std::nullopt;
  position.unknown_fields = read->without({"last", "ahead", "failed", "seek"});
  return position;
}

}  // namespace zkrecipes::detail
