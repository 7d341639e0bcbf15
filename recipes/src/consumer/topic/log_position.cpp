#include "topic/log_position.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "format/shown_text.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view position_kind = "position";

template <class Number>
void append_range(std::string& to, const std::string& before, Number first, Number last) {
  if (!to.empty()) to += ',';
  to.append(before).append(std::to_string(first));
  if (last != first) to.append(1, '-').append(std::to_string(last));
}

/// `18-25,27,30.3-9`: the batches 18 to 25 and 27, and the messages 3 to 9 of batch 30.
std::string ahead_text(const log_position& position) {
  std::string text;
  for (const auto& [first, last] : position.batches.all()) append_range(text, {}, first, last);
  for (const auto& [batch, some] : position.messages) {
    for (const auto& [first, last] : some.all()) append_range(text, std::to_string(batch) + '.', first, last);
  }
  return text;
}

template <class Number>
bool parse_range(std::string_view text, number_ranges<Number>& into) {
  const auto dash = text.find('-');
  const auto first = parse_whole<Number>(text.substr(0, dash));
  const auto last = dash == text.npos ? first : parse_whole<Number>(text.substr(dash + 1));
  if (!first || !last || *last < *first || *last == std::numeric_limits<Number>::max()) return false;
  into.add_range(*first, *last);
  return true;
}

std::string kept_text(const log_position& position) {
  std::string text;
  for (const auto& [first, last] : position.kept.all()) append_range(text, {}, first, last);
  return text;
}

bool parse_ahead(std::string_view text, log_position& into) {
  while (!text.empty()) {
    const auto each = text.substr(0, text.find(','));
    text.remove_prefix(each.size() == text.size() ? text.size() : each.size() + 1);
    const auto dot = each.find('.');
    const auto batch = dot == each.npos ? std::nullopt : parse_whole<std::int32_t>(each.substr(0, dot));
    if (dot != each.npos && !batch) return false;
    const bool is_good =
        batch ? parse_range(each.substr(dot + 1), into.messages[*batch]) : parse_range(each, into.batches);
    if (!is_good) return false;
  }
  return true;
}

bool parse_failed(const std::vector<std::string>& all, log_position& into) {
  for (const auto& each : all) {
    const auto read = parse_failed_attempts(each);
    const auto which = read ? parse_message_name(read->first) : std::nullopt;
    if (!which) return false;
    into.failed[*which] = read->second;
  }
  return true;
}

}  // namespace

bool log_position::is_settled(const message_place& which) const {
  if (next && which < *next) return true;
  const auto some = messages.find(which.batch);
  return batches.contains(which.batch) || (some != messages.end() && some->second.contains(which.index));
}

bool log_position::is_behind(std::int32_t batch) const {
  return (next && batch < next->batch) || batches.contains(batch);
}

std::uint32_t log_position::count_left(const batch_name& which) const {
  if (is_behind(which.number)) return 0;
  const bool is_next = next && next->batch == which.number;
  auto settled = is_next ? next->index : 0;
  const auto some = messages.find(which.number);
  if (some != messages.end()) {
    for (const auto& [first, last] : some->second.all()) settled += last - first + 1;
  }
  return which.count - std::min(which.count, settled);
}

std::string serialize(const log_position& position) {
  auto all = json_object::of_kind(position_kind);
  if (position.next) {
    all.set("batch", std::int64_t{position.next->batch}).set("index", std::int64_t{position.next->index});
  }
  const auto kept = kept_text(position);
  if (!kept.empty()) all.set("kept", kept);
  const auto ahead = ahead_text(position);
  if (!ahead.empty()) all.set("ahead", ahead);
  std::vector<std::string> failed;
  for (const auto& [which, attempts] : position.failed) {
    failed.push_back(failed_text(message_name(which), attempts));
  }
  if (!failed.empty()) all.set("failed", failed);
  if (!position.seek.empty()) all.set("seek", position.seek);
  return all.add(position.unknown_fields).to_text();
}

std::optional<log_position> parse_position(std::string_view text) {
  const auto read = json_object::parse(text);
  if (!read || !read->is(position_kind)) return std::nullopt;
  log_position position;
  if (read->has("batch")) {
    const auto batch = read->integer("batch", 0, std::numeric_limits<std::int32_t>::max());
    const auto index = read->integer("index", 0, std::numeric_limits<std::uint32_t>::max());
    if (!batch || !index) return std::nullopt;
    position.next = message_place{static_cast<std::int32_t>(*batch), static_cast<std::uint32_t>(*index)};
  }
  const auto ahead = read->has("ahead") ? read->text("ahead") : std::string();
  const auto failed = read->has("failed") ? read->texts("failed") : std::vector<std::string>();
  if (!ahead || !failed || !parse_ahead(*ahead, position) || !parse_failed(*failed, position)) return std::nullopt;
  log_position kept;  // as the batches of `ahead`
  const bool is_kept_good = !read->has("kept") || (read->text("kept") && parse_ahead(*read->text("kept"), kept));
  if (!is_kept_good || !kept.messages.empty()) return std::nullopt;
  position.kept = std::move(kept.batches);
  const auto seek = read->has("seek") ? read->text("seek") : std::string();
  if (!seek) return std::nullopt;
  position.seek = *seek;
  position.unknown_fields = read->without({"batch", "index", "ahead", "failed", "kept", "seek"});
  return position;
}

}  // namespace zkrecipes::detail
