#include "cluster/shared_status.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "balance/pace_nodes.hpp"
#include "cluster/line_status.hpp"
#include "cluster/session_owner.hpp"
#include "cluster/stored_record.hpp"
#include "line/member_data.hpp"
#include "once/once_state.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace detail = zkrecipes::detail;
using std::chrono::milliseconds;

constexpr std::string_view marks_of_callers[] = {"-first-gate-", "-again-gate-"};
constexpr std::size_t hash_digits = 32;
constexpr std::size_t shown_of_hash = 8;
constexpr std::size_t longest_key = 200;
constexpr std::int64_t most_buckets = 1024;
constexpr std::string_view members_begin = "member-", asides_begin = "aside-";

/// The hash of the key in the name of a caller.
std::string hash_in(const std::string& name) {
  for (const auto marker : marks_of_callers) {
    const auto at = name.rfind(marker);
    if (at != name.npos && at >= hash_digits) return name.substr(at - hash_digits, hash_digits);
  }
  return {};
}

recipe_status begin_shared(const std::string& path, recipe which) {
  recipe_status status;
  status.path = path;
  status.kinds = {which};
  status.client = "zkrecipes";
  return status;
}

/// The callers of one bucket. The first of each key is inside, also if it was not read.
void add_callers(recipe_status& status, const node_line& bucket, std::size_t& inside) {
  std::set<std::string> keys;
  for (const auto& each : bucket.members) {
    const auto hash = hash_in(each.name);
    const bool is_first = keys.insert(hash).second;
    inside += is_first;
    if (!each.stat) {
      ++status.not_read;
      continue;
    }
    auto who = participant_of(each, is_first ? "holder" : "waiter", bucket.now);
    who.id = detail::member_id(each.data);
    who.is_orphan = who.session == 0;
    who.detail = "key " + hash.substr(0, shown_of_hash);
    if (each.name.find(marks_of_callers[1]) != each.name.npos) append_to_list(who.detail, "redelivered");
    status.participants.push_back(std::move(who));
  }
}

std::size_t caller_count(const std::vector<node_line>& buckets) {
  std::size_t count = 0;
  for (const auto& each : buckets) count += each.members.size();
  return count;
}

/// An intent counts only if it was written in its period.
const char* role_of_intent(const std::optional<detail::once_record>& record, const zkrecipes::node_stat& stat,
                           milliseconds per, std::int64_t period) {
  if (!record) return "foreign";
  if (record->is_withdrawn) return "withdrawn";
  return stat.mtime / per.count() == period ? "intent" : "void";
}

void add_intents(recipe_status& status, const node_line& last, milliseconds per, std::int64_t period) {
  for (const auto& each : last.members) {
    if (!each.stat) {
      ++status.not_read;
      continue;
    }
    const auto record = each.is_refused ? std::nullopt : detail::parse_once_record(each.data);
    auto who =
        participant_of(each, each.is_refused ? "intent" : role_of_intent(record, *each.stat, per, period), last.now);
    who.session.reset();  // it belongs to none
    if (record) {
      who.id = record->id;
      who.detail = shortened(record->key, longest_key);
      if (!record->note.empty()) append_to_list(who.detail, shortened(record->note, longest_key));
    }
    status.participants.push_back(std::move(who));
  }
}

bool is_aside(const node_line& members, const std::string& name) {
  return std::any_of(members.members.begin(), members.members.end(), [&](const auto& each) {
    return each.name == std::string(asides_begin) + name && (!each.stat || session_of(*each.stat) != 0);
  });
}

/// The lowest floor; nothing: a member has just joined, or was not read.
struct floors {
  std::optional<std::int64_t> lowest{};
  bool are_known = true;
  void add(const std::optional<std::int64_t>& one) {
    are_known &= one.has_value();
    if (one) lowest = std::min(lowest.value_or(*one), *one);
  }
};

void add_balance_member(recipe_status& status, const node_line& members, const child_node& node, floors& all) {
  if (!node.stat) {
    ++status.not_read;
    return all.add(std::nullopt);
  }
  if (session_of(*node.stat) == 0) {  // no member, whatever its name
    ++status.stranger_count;
    status.strangers.push_back(node.name);
    return;
  }
  auto who = participant_of(node, "member", members.now);
  const auto record = node.is_refused ? std::nullopt : detail::parse_pace_member_record(node.data);
  if (record) {
    who.id = record->id;
    who.detail = record->floor ? "floor " + std::to_string(*record->floor) : "has just joined";
  } else if (!node.is_refused) {
    who.detail = "foreign data";
  }
  all.add(record ? record->floor : std::nullopt);
  if (is_aside(members, node.name)) append_to_list(who.detail, "aside: it can not read all members");
  status.participants.push_back(std::move(who));
}

}  // namespace

name_markers gate_markers() noexcept { return marks_of_callers; }

recipe_status shared_gate_of(const std::string& path, const zkrecipes::node_data& root,
                             const std::vector<node_line>& buckets, std::size_t unread) {
  const auto record = parse_stored(root.data);
  const auto count = integer_field(record, "buckets");
  const bool is_ours = text_field(record, "zkrecipes") == "shared_gate" && count > 0 && count <= most_buckets;
  if (!is_ours && !root.data.empty())
    return recipe_without_view(path, recipe::shared_gate, recipe_access::foreign_data);
  auto status = begin_shared(path, recipe::shared_gate);
  std::size_t inside = 0;
  for (const auto& each : buckets) add_callers(status, each, inside);
  for (const auto& each : buckets) add_strangers(status, each);
  const auto callers = caller_count(buckets);
  const auto known = [unread](std::size_t value) {
    return unread == 0 ? fact_value(static_cast<std::int64_t>(value)) : fact_value();
  };
  status.facts = {
      {"buckets", is_ours ? fact_value(count) : fact_value()}, {"inside", known(inside)}, {"callers", known(callers)}};
  if (unread > 0) status.facts.push_back({"buckets_not_read", static_cast<std::int64_t>(unread)});
  const auto rank = [](const auto& each) {
    return std::pair(each.role != "holder", -each.age.value_or(milliseconds(0)));
  };
  std::stable_sort(status.participants.begin(), status.participants.end(),
                   [rank](const auto& a, const auto& b) { return rank(a) < rank(b); });
  set_holders(status, inside, callers - inside);
  if (unread > 0) status.waiting.reset();
  status.state = inside > 0 ? "in use" : unread > 0 ? "unknown" : root.data.empty() ? "not used yet" : "idle";
  return status;
}

std::vector<std::int64_t> periods_among(const std::vector<std::string>& names) {
  std::vector<std::int64_t> all;
  for (const auto& each : names)
    if (const auto number = detail::once_place::period_named(each)) all.push_back(*number);
  std::sort(all.begin(), all.end());
  return all;
}

recipe_status once_per_of(const std::string& path, const zkrecipes::node_data& root,
                          const std::vector<std::int64_t>& periods, const std::optional<node_line>& last,
                          milliseconds now) {
  const auto per = detail::parse_period(root.data);
  constexpr milliseconds shortest(1'000);
  const bool is_ours = per && *per >= shortest;
  if (!is_ours && !root.data.empty()) return recipe_without_view(path, recipe::once_per, recipe_access::foreign_data);
  auto status = begin_shared(path, recipe::once_per);
  status.state = "not used yet";
  if (!is_ours) return status;
  const auto present = now.count() / per->count();
  const bool is_present = !periods.empty() && periods.back() >= present;
  status.state = periods.empty() ? "no calls" : is_present ? "called in this period" : "not called in this period";
  status.facts = {{"period_length", *per}, {"periods", static_cast<std::int64_t>(periods.size())}};
  if (periods.empty() || !last) return status;
  add_intents(status, *last, *per, periods.back());
  const auto begin = milliseconds(periods.back() * per->count());
  status.facts.push_back({"last_period", periods.back()});
  status.facts.push_back({"last_period_began", std::max(now - begin, milliseconds(0))});
  status.facts.push_back({"intents", static_cast<std::int64_t>(last->members.size())});
  return status;
}

recipe_status shared_balance_of(const std::string& path, const std::optional<zkrecipes::node_data>& limit,
                                const node_line& members) {
  const auto record = limit ? detail::parse_limit_record(limit->data) : std::nullopt;
  if (limit && !record) return recipe_without_view(path, recipe::shared_balance, recipe_access::foreign_data);
  auto status = begin_shared(path, recipe::shared_balance);
  floors all;
  std::int64_t count = 0;
  for (const auto& each : members.members) {
    if (!each.name.starts_with(members_begin)) continue;
    const auto strangers = status.stranger_count;
    add_balance_member(status, members, each, all);
    count += status.stranger_count == strangers;
  }
  status.state = !record ? "its limit is missing" : std::to_string(count) + (count == 1 ? " member" : " members");
  status.facts = {{"range", record ? fact_value(record->range) : fact_value()},
                  {"limit", record ? fact_value(record->limit) : fact_value()},
                  {"members", count},
                  {"lowest_floor", all.lowest && all.are_known ? fact_value(*all.lowest) : fact_value()}};
  return status;
}

std::optional<std::string> rate_text(const std::string& data) {
  unsigned long long rate = 0, span = 0, burst = 0;
  int read = -1;
  std::sscanf(data.c_str(), "%20llu in %20llu ns, burst %20llu%n", &rate, &span, &burst, &read);
  constexpr std::uint64_t longest = 86'400'000'000'000ULL;
  if (read < 0 || static_cast<std::size_t>(read) != data.size() || rate == 0 || span == 0 || span > longest)
    return std::nullopt;
  const auto per = std::chrono::duration_cast<milliseconds>(std::chrono::nanoseconds(span));
  return std::to_string(rate) + " in " + short_duration(per) + ", burst " + std::to_string(burst);
}

void describe_limiter(recipe_status& group, recipe which, bool is_declared) {
  const auto* original = std::get_if<group_status>(&group.original);
  if (!original) return;
  bool are_rates = !original->members.empty();
  for (std::size_t i = 0; i < original->members.size() && i < group.participants.size(); ++i) {
    const auto rate = rate_text(original->members[i].data);
    are_rates &= rate.has_value();
    if (rate) append_to_list(group.participants[i].detail, *rate);
  }
  if (is_declared) {
    group.kinds = {which};
  } else if (are_rates) {
    group.kinds = {recipe::shard_group, recipe::shared_limiter};
  }
}

}  // namespace zkadmin
