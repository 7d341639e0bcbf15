#include "barrier/round_view.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace zkrecipes::detail {

namespace {

constexpr std::string_view member_markers[] = {"-member-"};
constexpr std::string_view guid_prefix = "_c_";
constexpr std::size_t guid_length = 36;

}  // namespace

std::optional<round_member> parse_round_member(const member& of) {
  const auto& name = of.name;
  const auto size_at = guid_prefix.size() + guid_length + 1;
  if (!name.starts_with(guid_prefix) || name.size() <= size_at || name[size_at - 1] != '-') return std::nullopt;
  round_member who{name, name.substr(guid_prefix.size(), guid_length), 0, of.sequence};
  const auto* end = name.data() + name.size();
  auto [rest, error] = std::from_chars(name.data() + size_at, end, who.size);
  const bool fine = error == std::errc() && who.size > 0 && std::string_view(rest, end).starts_with(member_markers[0]);
  return fine ? std::optional(std::move(who)) : std::nullopt;
}

std::span<const std::string_view> round_markers() { return member_markers; }

std::string round_marker(int size) { return std::to_string(size).append(member_markers[0]); }

namespace {

constexpr std::string_view round_kind = "double_barrier";

}  // namespace

bool round_record::names(const round_member& who) const {
  for (std::size_t i = 0; i < members.size(); ++i) {
    if ((places.empty() || places[i] == who.place) && members[i] == who.guid) return true;
  }
  return false;
}

bool round_record::knows(const std::string& guid) const {
  return std::find(members.begin(), members.end(), guid) != members.end();
}

void round_record::add(const round_member& who) {
  members.push_back(who.guid);
  places.push_back(who.place);
}

std::string serialize(const round_record& record) {
  auto object = json_object::of_kind(round_kind);
  object.set("round", record.round).set("members", record.members);
  if (record.places.size() == record.members.size()) object.set("places", record.places);
  return object.add(record.unknown_fields).to_text();
}

std::optional<round_record> parse_round(const std::string& data) try {
  if (data.empty()) return round_record{};
  const auto object = json_object::parse(data, encoding::utf8);
  if (!object || !object->is(round_kind)) return std::nullopt;
  round_record record;
  record.round = object->integer("round", 0, last_round).value();
  record.members = object->texts("members").value();
  if (object->has("places")) {
    record.places = object->integers("places").value();
    if (record.places.size() != record.members.size()) return std::nullopt;
  }
  record.unknown_fields = object->without({"round", "members", "places"});
  return record;
} catch (const std::bad_optional_access&) {  // a field is missing or has another type
  return std::nullopt;
}

namespace {

/// A record whose members are found fast.
class named_members {
 public:
  explicit named_members(const round_record& record) : record_(record) {
    for (std::size_t i = 0; i < record.members.size(); ++i) at_.emplace(record.members[i], i);
  }

  bool names(const round_member& who) const {
    const auto [begin, end] = at_.equal_range(who.guid);
    return std::any_of(begin, end, [&](const auto& each) {
      return record_.places.empty() || record_.places[each.second] == who.place;
    });
  }

 private:
  const round_record& record_;
  std::unordered_multimap<std::string_view, std::size_t> at_;
};

void add_inside(round_view& to, round_member who) {
  to.inside_at.emplace(who.name, to.inside.size());
  to.inside.push_back(std::move(who));
}

/// A create whose reply was lost can still be executed, before the one that was sent instead. The member is the node of
/// the later create.
void add_waiting(round_view& to, round_member who) {
  const auto [known, is_new] = to.waiting_at.try_emplace(who.guid, to.waiting.size());
  if (!is_new) {
    to.superseded.push_back(std::move(to.waiting[known->second]));
    to.waiting.erase(to.waiting.begin() + static_cast<std::ptrdiff_t>(known->second));
    for (std::size_t i = known->second; i < to.waiting.size(); ++i) --to.waiting_at[to.waiting[i].guid];
    known->second = to.waiting.size();
  }
  to.waiting.push_back(std::move(who));
}

}  // namespace

std::optional<std::size_t> round_view::position(const std::string& guid) const {
  const auto found = waiting_at.find(guid);
  return found == waiting_at.end() ? std::nullopt : std::optional(found->second);
}

bool round_view::admits(const round_member& who) const {
  return record.names(who) || std::ranges::find(inside, who.guid, &round_member::guid) != inside.end();
}

std::vector<std::string> round_view::nodes_of(const std::string& guid) const {
  std::vector<std::string> nodes;
  for (const auto* each : {&inside, &waiting, &superseded}) {
    for (const auto& who : *each) {
      if (who.guid == guid) nodes.push_back(who.name);
    }
  }
  return nodes;
}

bool round_view::shows(const round_record& other, std::int32_t its_version, std::span<const member> line) const {
  return version == its_version && record.round == other.round && record.members == other.members &&
         record.places == other.places && std::ranges::equal(names, line, {}, {}, &member::name);
}

round_view interpret(round_record record, std::int32_t version, std::span<const member> line, int size) {
  round_view seen;
  seen.record = std::move(record);
  seen.version = version;
  const named_members named(seen.record);
  for (const auto& each : line) {
    seen.names.push_back(each.name);
    auto who = parse_round_member(each);
    if (!who) continue;
    if (seen.first_size == 0) seen.first_size = who->size;
    if (named.names(*who)) {
      add_inside(seen, std::move(*who));
    } else if (who->size == size) {
      add_waiting(seen, std::move(*who));
    }
  }
  return seen;
}

round_view opened(const round_view& seen, int size) {
  round_view next;
  next.record = {seen.record.round + 1, {}, {}, seen.record.unknown_fields};
  for (const auto& who : std::span(seen.waiting).first(static_cast<std::size_t>(size))) {
    next.record.add(who);
    add_inside(next, who);
  }
  return next;
}

std::vector<std::shared_ptr<const round_member>> still_inside(std::span<const member> line,
                                                              const round_view_ptr& round) {
  std::vector<std::shared_ptr<const round_member>> inside;
  const bool names_nodes = !round->record.places.empty();  // all of them were there when the view was read, or gone
  for (const auto& each : line) {
    if (const auto known = round->inside_at.find(each.name); known != round->inside_at.end()) {
      inside.emplace_back(round, &round->inside[known->second]);
    } else if (auto who = names_nodes ? std::nullopt : parse_round_member(each); who && round->record.names(*who)) {
      inside.push_back(std::make_shared<const round_member>(std::move(*who)));
    }
  }
  return inside;
}

}  // namespace zkrecipes::detail
