#include "cluster/nodes.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/tasks.hpp"
#include "cluster/collector.hpp"
#include "cluster/stored_record.hpp"

namespace zkadmin {

namespace {

using change_kind = node_change::kind;
using names = std::vector<std::string>;

/// Versions wrap around; so their difference counts.
std::int64_t steps(std::int32_t from, std::int32_t to) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(to) - static_cast<std::uint32_t>(from));
}

names without(const names& all, const names& others) {
  names rest;
  std::set_difference(all.begin(), all.end(), others.begin(), others.end(), std::back_inserter(rest));
  return rest;
}

std::optional<std::int64_t> at_least_none(std::int64_t count) { return std::max<std::int64_t>(count, 0); }

}  // namespace

const char* to_string(node_change::kind what) noexcept {
  switch (what) {
    case change_kind::absent: return "absent";
    case change_kind::present: return "present";
    case change_kind::created: return "created";
    case change_kind::changed: return "changed";
    case change_kind::deleted: return "deleted";
    case change_kind::children: return "children";
    case change_kind::disconnected: return "disconnected";
    case change_kind::reconnected: return "reconnected";
  }
  return "";
}

bool is_change(const node_change& change) noexcept {
  const auto what = change.what;
  return what == change_kind::created || what == change_kind::changed || what == change_kind::deleted ||
         what == change_kind::children;
}

/// A node that has just been created has no children yet: those that it has already will be told as added.
void node_memory::remember(const zkrecipes::node_stat& stat) {
  stat_ = stat;
  pzxid_ = stat.czxid;
  cversion_ = 0;
  names_.clear();
}

node_change node_memory::begin(const std::optional<zkrecipes::node_data>& node) {
  if (!node) return {change_kind::absent};
  remember(node->stat);
  return {change_kind::present, node->stat, node->data};
}

void node_memory::begin_children(zkrecipes::node_children children) {
  names_ = std::move(children.names);
  std::sort(names_.begin(), names_.end());
  pzxid_ = children.stat.pzxid;
  cversion_ = children.stat.cversion;
}

std::vector<node_change> node_memory::on_data(const zkrecipes::node_data& node) {
  std::vector<node_change> changes;
  if (stat_ && stat_->czxid != node.stat.czxid) changes = on_gone();
  if (!stat_) {
    remember(node.stat);
    changes.push_back({change_kind::created, node.stat, node.data, {}, {}, at_least_none(node.stat.version)});
    return changes;
  }
  const auto between = steps(stat_->version, node.stat.version) - 1;
  stat_ = node.stat;
  changes.push_back({change_kind::changed, node.stat, node.data, {}, {}, at_least_none(between)});
  return changes;
}

std::vector<node_change> node_memory::on_children(zkrecipes::node_children children) {
  if (!stat_) return {};
  if (stat_->czxid != children.stat.czxid) return on_gone();  // that it was created is told with its data
  auto& now = children.names;
  std::sort(now.begin(), now.end());
  node_change change{change_kind::children, children.stat, {}, without(now, names_), without(names_, now)};
  const auto told = static_cast<std::int64_t>(change.added.size() + change.removed.size());
  change.unseen = at_least_none(steps(cversion_, children.stat.cversion) - told);
  begin_children(std::move(children));
  if (told == 0 && change.unseen == 0) return {};
  return {std::move(change)};
}

std::vector<node_change> node_memory::on_gone() {
  if (!stat_) return {};
  stat_.reset();
  pzxid_ = 0;
  names_.clear();
  return {{change_kind::deleted, {}, {}, {}, {}, std::nullopt}};
}

using zkrecipes::detail::json_object;

json_object parse_stored(std::string_view data) { return json_object::parse(data).value_or(json_object()); }

std::string text_field(const json_object& record, std::string_view name) {
  return record.text(name).value_or(std::string());
}

std::int64_t integer_field(const json_object& record, std::string_view name) {
  return record.integer(name).value_or(0);
}

const char* kind_of(const zkrecipes::node_stat& stat) noexcept {
  return stat.ephemeral_owner == 0 ? "persistent" : "ephemeral";
}

std::string mark_of(std::string_view data) { return text_field(parse_stored(data), "zkrecipes"); }

namespace asio = boost::asio;

asio::awaitable<reading<own_node>> read_own_node(zkrecipes::session session, std::string path) {
  reading<own_node> result;
  auto listing = co_await session.async_children(path, as_result);
  result.error = std::get<0>(listing);
  if (result.error) co_return result;
  auto looked = co_await session.async_get(path, as_result);
  result.error = std::get<0>(looked);
  if (result.error) co_return result;
  result.status = {std::move(std::get<1>(looked)), std::move(std::get<1>(listing).names)};
  co_return result;
}

}  // namespace zkadmin
