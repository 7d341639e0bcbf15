#include "barrier/round_view.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace zkrecipes::detail {

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
