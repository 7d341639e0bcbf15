#include "cluster/node_status.hpp"

#include <algorithm>
#include <utility>

#include <zkrecipes/service_discovery.hpp>

#include "cluster/line_status.hpp"
#include "cluster/session_owner.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t longest_data = 200;  // Bytes of a user's data.
constexpr std::size_t most_named_strangers = 5;
constexpr std::string_view kazoos_party = "__party__";

std::string count_text(std::size_t count, const char* name) {
  return std::to_string(count) + " " + name + (count == 1 ? "" : "s");
}

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
  status.state = count_text(status.participants.size() + (is_certain ? status.not_read : 0),
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
  status.state = count_text(count, "instance");
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

}  // namespace zkadmin
