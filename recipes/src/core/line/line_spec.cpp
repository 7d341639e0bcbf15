#include "line/line_spec.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::string_view member_kind = "member";
constexpr std::string_view curators_request = "__REVOKE__";  // as Curator's Revoker writes it

/// The data as an object, to be written again: any other text is an id.
json_object parse_member(const std::string& data) {
  auto object = json_object::parse(data);
  return object ? std::move(*object) : json_object::of_kind(member_kind).set("id", data);
}

}  // namespace

std::optional<json_object> read_member(const std::string& data) {
  return data.starts_with('{') ? json_object::parse(data) : std::nullopt;
}

bool has_flag(const std::string& data, std::string_view name) {
  const auto object = read_member(data);
  return object && object->flag(name).value_or(false);
}

std::string id_data(const std::string& id) {
  const bool is_plain = !id.starts_with('{') && id != curators_request;
  return is_plain ? id : json_object::of_kind(member_kind).set("id", id).to_text();
}

std::string revocable_data(const std::string& id) {
  return json_object::of_kind(member_kind).set("id", id).set_flag("revocable", true).to_text();
}

bool is_revocable(const std::string& data) { return has_flag(data, "revocable"); }

std::string with_revocation(const std::string& data, std::chrono::milliseconds grace) {
  // The owner may not have heard yet of who asked before: what ends first has to stand there.
  if (asks_revocation(data)) grace = std::min(grace, grace_of(data));
  auto object = parse_member(data);
  object.set_flag("revoke", true);
  if (grace == any_grace) {
    object.erase("grace_ms");
  } else {
    object.set("grace_ms", grace.count());
  }
  return object.to_text();
}

bool asks_revocation(const std::string& data) { return data == curators_request || has_flag(data, "revoke"); }

std::chrono::milliseconds grace_of(const std::string& data) {
  const auto object = read_member(data);
  const auto grace = object ? object->time("grace_ms") : std::nullopt;
  return grace.value_or(any_grace);
}

std::string with_shared(const std::string& data) { return parse_member(data).set_flag("shared", true).to_text(); }

bool is_shared(const std::string& data) { return has_flag(data, "shared"); }

std::string member_id(const std::string& data) {
  const auto object = read_member(data);
  return object ? object->text("id").value_or(data) : data;
}

namespace {

/// The names in Curator's mutex, and in both generations of kazoo's lock.
constexpr std::string_view lock_markers[] = {"lock-", "__lock__"};

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

line_spec lock_line(std::string path) {
  line_spec line{std::move(path), "lock-", lock_markers};
  line.one_by_one = true;
  return line;
}

std::optional<std::size_t> nearest_ahead(std::span<const member>, std::size_t self) {
  if (self == 0) return std::nullopt;
  return self - 1;
}

}  // namespace zkrecipes::detail
