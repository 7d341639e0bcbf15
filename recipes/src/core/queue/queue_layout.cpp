#include "queue/queue_layout.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include "line/line_spec.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view fifo_marker = "qn-";         // as Curator's SimpleDistributedQueue
constexpr std::string_view priority_marker = "entry-";  // as kazoo's Queue
constexpr std::string_view delayed_marker = "at-";

/// Splits a name with a rank of `digits` digits: the marker (with the rank in it), and the rank. Nothing if it has
/// none.
std::optional<std::pair<std::string_view, std::int64_t>> ranked(std::string_view name, std::string_view before,
                                                                std::size_t digits) {
  const auto length = before.size() + digits + 1;
  if (!name.starts_with(before) || name.size() < length || name[length - 1] != '-') return std::nullopt;
  std::int64_t rank = 0;
  const auto* begin = name.data() + before.size();
  auto [end, error] = std::from_chars(begin, begin + digits, rank);
  if (error != std::errc() || end != begin + digits || rank < 0) return std::nullopt;
  return std::pair(name.substr(0, length), rank);
}

std::string padded(std::string_view before, int digits, std::int64_t rank) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*lld-", digits, static_cast<long long>(rank));
  return std::string(before) + text;
}

constexpr int priority_digits = 3;
constexpr int time_digits = 16;

}  // namespace

queue_layout::queue_layout(queue_kind what, std::string path)
    : kind(what),
      items(std::move(path)),
      // kazoo's Queue takes every child for an item, so all other nodes stand in a folder of their own.
      side(kind == queue_kind::priority ? (items == "/" ? "/-side" : items + "-side") : items) {}

std::string queue_layout::claim(std::string_view name) const { return on_side(std::string(claim_prefix).append(name)); }

std::string queue_layout::marker(std::int64_t rank) const {
  if (kind == queue_kind::priority) return padded(priority_marker, priority_digits, rank);
  if (kind == queue_kind::delayed) return padded(delayed_marker, time_digits, rank);
  return std::string(fifo_marker);
}

std::optional<entry> queue_layout::parse(std::string_view name) const {
  auto found = std::optional(std::pair(fifo_marker, std::int64_t{0}));
  if (kind == queue_kind::priority) found = ranked(name, priority_marker, priority_digits);
  if (kind == queue_kind::delayed) found = ranked(name, delayed_marker, time_digits);
  if (!found || !name.starts_with(found->first)) return std::nullopt;
  const std::string_view markers[] = {found->first};
  auto sequence = parse_sequence(name, markers);
  if (!sequence) return std::nullopt;
  return entry{std::string(name), found->second, *sequence};
}

std::vector<entry> queue_layout::items_of(const std::vector<std::string>& children) const {
  std::vector<entry> all;
  for (const auto& name : children) {
    if (auto one = parse(name)) all.push_back(std::move(*one));
  }
  if (all.empty()) return all;
  // Numbers wrap, so they are compared by their distance from the smallest: see `members_of`.
  auto smaller = [](const entry& a, const entry& b) { return a.sequence < b.sequence; };
  const auto origin = static_cast<std::uint32_t>(std::min_element(all.begin(), all.end(), smaller)->sequence);
  auto place = [origin](const entry& each) {
    return std::pair(each.rank, static_cast<std::int32_t>(static_cast<std::uint32_t>(each.sequence) - origin));
  };
  std::sort(all.begin(), all.end(), [&](const entry& a, const entry& b) { return place(a) < place(b); });
  return all;
}

bool queue_layout::is_known(std::string_view name) const {
  for (auto ours : {idle_folder, dead_folder, parked_folder, gate_name, clock_name, marks_name}) {
    if (name == ours) return true;
  }
  for (auto ours : {claim_prefix, return_prefix, producer_prefix}) {
    if (name.starts_with(ours)) return true;
  }
  return false;
}

bool queue_layout::is_strange(const std::vector<std::string>& children) const {
  const auto is_ours = [this](const std::string& name) { return parse(name) || is_known(name); };
  return std::ranges::none_of(children, is_ours) && !strangers_among(children, {}).empty();
}

}  // namespace zkrecipes::detail
