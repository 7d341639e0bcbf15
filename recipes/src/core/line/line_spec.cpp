#include "line/line_spec.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace zkrecipes::detail {

namespace {

/// What stands before the number in the names of all lines.
constexpr std::string_view all_lines[] = {
    "latch-",                             // election; Curator's LeaderLatch
    "lock-",    "__lock__",               // lock; Curator's mutex and LeaderSelector; kazoo's Lock, Election, WriteLock
    "__READ__", "__WRIT__", "__rlock__",  // read-write lock; Curator's; kazoo's ReadLock
    "-permit-",                           // semaphore
    "-member-",                           // double barrier
    "-idle-",                             // takers that wait for a queue
    "-gate-",                             // shared gate
};

/// How the names of items begin, and how many characters of a rank come before the number: see queue_layout.
constexpr std::pair<std::string_view, std::size_t> all_items[] = {
    {"qn-", 0},     // queue; Curator's SimpleDistributedQueue
    {"entry-", 4},  // priority queue; kazoo's Queue
    {"at-", 17},    // delay queue
};

/// The number behind one of the markers, and which one that is.
struct numbered {
  std::int32_t sequence;
  std::size_t marker;
};

std::optional<numbered> parse_name(std::string_view name, std::span<const std::string_view> markers) {
  for (std::size_t i = 0; i < markers.size(); ++i) {
    auto found = name.rfind(markers[i]);
    if (found == name.npos) continue;
    auto digits = name.substr(found + markers[i].size());
    std::int32_t value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = error == std::errc() && end == digits.data() + digits.size();
    if (whole && digits.size() >= 10) return numbered{value, i};
  }
  return std::nullopt;
}

std::optional<std::int32_t> parse_item(std::string_view name) {
  static constexpr std::string_view dash[] = {"-"};
  for (const auto& [begin, rank] : all_items) {
    if (name.starts_with(begin) && name.rfind('-') + 1 == begin.size() + rank) return parse_sequence(name, dash);
  }
  return std::nullopt;
}

}  // namespace

std::string protected_name(std::string_view guid, std::string_view marker) {
  return std::string("_c_").append(guid).append("-").append(marker);
}

std::optional<std::int32_t> parse_sequence(std::string_view name, std::span<const std::string_view> markers) {
  const auto parsed = parse_name(name, markers);
  return parsed ? std::optional(parsed->sequence) : std::nullopt;
}

void count_alike(std::vector<member>& members) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    members[i].alike = i > 0 && members[i].marker == members[i - 1].marker ? members[i - 1].alike + 1 : 0;
  }
}

std::vector<member> members_of(const std::vector<std::string>& children, std::span<const std::string_view> markers) {
  std::vector<member> members;
  for (const auto& name : children) {
    if (const auto parsed = parse_name(name, markers)) {
      members.push_back({name, parsed->sequence, false, parsed->marker});
    }
  }
  if (members.empty()) return members;
  // Seen from a fixed member, since `before` is no order where foreign numbers lie all around the circle.
  auto smaller = [](const member& a, const member& b) { return a.sequence < b.sequence; };
  const auto origin = std::min_element(members.begin(), members.end(), smaller)->sequence;
  auto distance = [origin](const member& each) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(each.sequence) - static_cast<std::uint32_t>(origin));
  };
  std::sort(members.begin(), members.end(),
            [&](const member& a, const member& b) { return distance(a) < distance(b); });
  count_alike(members);
  return members;
}

std::vector<std::int32_t> strangers_among(const std::vector<std::string>& children,
                                          std::span<const std::string_view> markers) {
  std::vector<std::int32_t> numbers;
  for (const auto& name : children) {
    if (parse_sequence(name, markers)) continue;
    auto sequence = parse_sequence(name, all_lines);
    if (!sequence) sequence = parse_item(name);
    if (sequence) numbers.push_back(*sequence);
  }
  return numbers;
}

std::optional<std::size_t> nearest_ahead(std::span<const member>, std::size_t self) {
  if (self == 0) return std::nullopt;
  return self - 1;
}

}  // namespace zkrecipes::detail
