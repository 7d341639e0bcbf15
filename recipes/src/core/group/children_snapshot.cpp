#include <algorithm>

#include <zkrecipes/children_view.hpp>

namespace zkrecipes {

namespace {

bool by_name(const child_ptr& node, std::string_view name) { return node->name < name; }

bool is_same_node(const child_node& one, const child_node& other) { return one.stat.czxid == other.stat.czxid; }

bool is_same(const child_node& one, const child_node& other) {
  return is_same_node(one, other) && one.stat.mzxid == other.stat.mzxid && one.error == other.error;
}

}  // namespace

child_ptr children_snapshot::find(std::string_view name) const {
  auto found = std::lower_bound(nodes.begin(), nodes.end(), name, &by_name);
  return found != nodes.end() && (*found)->name == name ? *found : nullptr;
}

children_change difference(const children_snapshot& before, const children_snapshot& now) {
  children_change result;
  result.now = now;
  for (const auto& each : now.nodes) {
    auto known = before.find(each->name);
    if (known && is_same(*known, *each)) continue;
    (known && is_same_node(*known, *each) ? result.changed : result.added).push_back(each);
  }
  for (const auto& each : before.nodes) {
    auto present = now.find(each->name);
    if (!present || !is_same_node(*present, *each)) result.removed.push_back(each);
  }
  return result;
}

}  // namespace zkrecipes
