#include "model/ensemble.hpp"

#include <algorithm>

namespace zkrecipes::simulation {

using event_kind = backend::change;

void watch_table::add(table& to, const std::string& path, const connection_ptr& who) {
  auto& watchers = to[path];
  if (std::find(watchers.begin(), watchers.end(), who) == watchers.end()) watchers.push_back(who);
}

void watch_table::take(table& from, const std::string& path, const connection& who) {
  auto found = from.find(path);
  if (found == from.end()) return;
  std::erase_if(found->second, [&](const connection_ptr& each) { return each.get() == &who; });
  if (found->second.empty()) from.erase(found);
}

void watch_table::forget(const connection& who) {
  for (auto* each : {&data_, &children_}) {
    for (auto it = each->begin(); it != each->end();) {
      std::erase_if(it->second, [&](const connection_ptr& one) { return one.get() == &who; });
      it = it->second.empty() ? each->erase(it) : std::next(it);
    }
  }
}

std::vector<connection_ptr> watch_table::fire(table& from, std::string_view path) {
  auto found = from.find(path);
  if (found == from.end()) return {};
  auto watchers = std::move(found->second);
  from.erase(found);
  return watchers;
}

void watch_table::happening(const change& what, const tree& nodes, const teller& tell) {
  using kind = change::kind;
  if (what.type == kind::set_acl || size() == 0) return;
  auto tell_readers = [&](const acl& access, const connection_ptr& who, const backend::watch_event& event) {
    if (!who->may_not_hear && allows(access, perm_read, who->who)) tell(who, event);
  };
  const auto& access = what.type == kind::create ? what.access : nodes.find(what.path)->access;
  const auto told = fire(data_, what.path);
  const auto event = what.type == kind::set      ? event_kind::data
                     : what.type == kind::create ? event_kind::created
                                                 : event_kind::deleted;
  for (const auto& each : told) tell_readers(access, each, {event, what.path});
  if (what.type == kind::set) return;
  if (what.type == kind::remove) {
    for (const auto& each : fire(children_, what.path)) {
      if (std::find(told.begin(), told.end(), each) == told.end()) tell_readers(access, each, {event, what.path});
    }
  }
  const auto parent = parent_path(what.path);
  for (const auto& each : fire(children_, parent))
    tell_readers(nodes.find(parent)->access, each, {event_kind::children, std::string(parent)});
}

}  // namespace zkrecipes::simulation
