#include "cluster/shared_status.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include <zkrecipes/service_discovery.hpp>

#include "balance/pacer.hpp"
#include "base/text.hpp"
#include "cluster/line_status.hpp"
#include "cluster/nodes.hpp"
#include "cluster/stored_record.hpp"
#include "line/line_spec.hpp"
#include "once/once_per.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_data = 200;  // Bytes of a user's data.
constexpr std::size_t most_named_strangers = 5;
constexpr std::string_view kazoos_party = "__party__";

/// kazoo and Curator name the members of a double barrier by UUIDs, and kazoo the permits of a semaphore.
bool is_uuid(const std::string& name) noexcept {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == '-'; };
  return (name.size() == 32 || name.size() == 36) && std::all_of(name.begin(), name.end(), is_digit);
}

bool is_party(const child_node& node) noexcept { return node.name.ends_with(kazoos_party); }

void count_unread(recipe_status& status, const node_line& children) {
  status.not_read = static_cast<std::uint64_t>(
      std::count_if(children.members.begin(), children.members.end(), [](const auto& each) { return !each.stat; }));
}

void add_stranger(recipe_status& status, const std::string& name) {
  ++status.stranger_count;
  if (status.strangers.size() < most_named_strangers) status.strangers.push_back(name);
}

/// "10.0.0.7:8080, ssl 8443, draining, {"region":"west"}".
std::string instance_text(const zkrecipes::service_instance& instance) {
  std::string text = instance.address;
  if (instance.port) text += ":" + std::to_string(*instance.port);
  if (instance.ssl_port) append_to_list(text, "ssl " + std::to_string(*instance.ssl_port));
  if (!instance.enabled) append_to_list(text, "draining");
  if (!instance.payload.empty()) append_to_list(text, shortened(instance.payload, longest_data));
  return text;
}

/// Gone with its session, unless it was registered to stay.
bool must_be_ephemeral(const zkrecipes::service_instance& instance) noexcept {
  return instance.type == zkrecipes::service_type::dynamic ||
         instance.type == zkrecipes::service_type::dynamic_sequential;
}

std::string data_text(const std::string& data) { return shortened(data, longest_data); }

}  // namespace

recipe_status barrier_of(std::string path, const std::optional<zkrecipes::node_data>& node,
                         std::chrono::milliseconds now) {
  const bool is_record = node && node->data.starts_with('{');
  if (is_record && recipe_of(node->data) != recipe::barrier)
    return recipe_without_view(std::move(path), recipe::barrier, recipe_access::foreign_data);
  recipe_status status;
  status.path = std::move(path);
  status.kinds = {recipe::barrier};
  status.state = node ? "raised" : "lifted";
  if (!node) return status;
  status.client = is_record ? "zkrecipes" : "";
  status.age = age_of(node->stat, now);
  return status;
}

recipe_status membership_of(const node_line& children, bool is_certain) {
  recipe_status status;
  status.path = children.path;
  const auto& all = children.members;
  const bool is_kazoos = std::any_of(all.begin(), all.end(), is_party);
  is_certain = is_certain || is_kazoos;
  bool are_uuids = true;
  for (const auto& each : all) {
    if (!each.stat) continue;
    const bool is_ephemeral = session_of(*each.stat) != 0;
    if (!is_ephemeral && !is_certain) continue;
    are_uuids = are_uuids && is_uuid(each.name);
    auto who = participant_of(each, "member", children.now);
    who.id = is_party(each) ? each.name.substr(0, each.name.size() - kazoos_party.size()) : each.name;
    who.detail = data_text(each.data);
    who.is_orphan = !is_ephemeral;
    status.participants.push_back(std::move(who));
  }
  count_unread(status, children);
  status.kinds = {recipe::membership};
  if (!is_certain) status.kinds.push_back(recipe::persistent_node);
  if (!is_certain && are_uuids) status.kinds.insert(status.kinds.end(), {recipe::double_barrier, recipe::semaphore});
  status.client = is_kazoos ? "kazoo" : "";
  status.state = counted(status.participants.size() + (is_certain ? status.not_read : 0),
                         is_certain ? "member" : "ephemeral node");
  return status;
}

recipe_status service_of(const node_line& children) {
  recipe_status status;
  status.path = children.path;
  status.kinds = {recipe::service};
  status.client = "Curator or zkrecipes";
  std::int64_t draining = 0;
  for (const auto& each : children.members) {
    if (!each.stat) continue;
    const auto instance = zkrecipes::parse_service_instance(each.data);
    if (!instance && !each.is_refused) {
      add_stranger(status, each.name);
      continue;
    }
    auto who = participant_of(each, "instance", children.now);
    who.id = each.name;
    if (instance) {
      who.detail = instance_text(*instance);
      who.is_orphan = who.session == 0 && must_be_ephemeral(*instance);
      draining += !instance->enabled;
    }
    status.participants.push_back(std::move(who));
  }
  count_unread(status, children);
  const auto count = status.participants.size() + status.not_read;
  status.state = counted(count, "instance");
  status.facts = {{"instances", static_cast<std::int64_t>(count)},
                  {"draining", status.not_read > 0 ? fact_value() : fact_value(draining)}};
  return status;
}

recipe_status persistent_node_of(std::string path, const zkrecipes::node_data& node, std::chrono::milliseconds now) {
  recipe_status status;
  status.path = std::move(path);
  status.kinds = {recipe::persistent_node};
  const auto session = session_of(node.stat);
  status.state = session != 0 ? "ephemeral" : "persistent";
  if (session != 0) status.session = session;
  status.age = age_of(node.stat, now);
  status.facts = {
      {"data", data_text(node.data)},
      {"version", std::int64_t(node.stat.version)},
      {"changed", std::max(now - std::chrono::milliseconds(node.stat.mtime), std::chrono::milliseconds(0))}};
  return status;
}

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
    who.id = told_id(each.data);
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
