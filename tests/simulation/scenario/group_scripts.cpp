// The operations of groups and shared values, to be tried under every single fault.
#include "scenario/scripts.hpp"

#include <zkrecipes/counter.hpp>
#include <zkrecipes/membership.hpp>
#include <zkrecipes/shared_value.hpp>

#include <memory>
#include <utility>

namespace zkrecipes::simulation {

namespace {

/// Joins, changes what it says, and leaves.
void be_a_member(actor& a) {
  auto group = std::make_shared<membership>(a.zk(), script_group);
  auto self = std::make_shared<joined_member>();
  auto leave = [&a, self](error_code error) {
    if (error) *self = joined_member();
    if (error) return a.done(error);
    a.all().start<>(a.signal(), [self](auto t) { self->async_leave(std::move(t)); },
                    [&a, self](error_code left) { a.done(left); });
  };
  auto update = [&a, self, leave](error_code error, joined_member joined) {
    if (error) return a.done(error);
    *self = std::move(joined);
    a.all().start<>(a.signal(), [self](auto t) { self->async_update("new", std::move(t)); }, leave);
  };
  a.all().start<joined_member>(
      a.signal(), [group](auto t) { group->async_join("actor", "old", std::move(t)); }, std::move(update));
}

/// Sees that a member joins.
void watch(actor& a) {
  auto view = std::make_shared<children_view>(a.zk(), script_group);
  auto other = std::make_shared<persistent_node>(a.zk(), std::string(script_group) + "/other", "");
  auto look_again = [&a, view, other](error_code error, children_snapshot seen) {
    if (error || !seen.nodes.empty()) return a.done(error);
    a.all().start<children_change>(
        a.signal(), [view, seen](auto t) { view->async_change(seen, std::move(t)); },
        [&a, view, other](error_code end, children_change) { a.done(end); });
  };
  a.all().start<children_snapshot>(a.signal(), [view](auto t) { view->async_current(std::move(t)); },
                                   std::move(look_again));
}

void compare_and_set(actor& a) {
  auto value = std::make_shared<shared_value>(a.zk(), script_node);
  a.all().start<node_data>(a.signal(), [value](auto t) { value->async_get(std::move(t)); },
                           [&a, value](error_code error, node_data seen) {
                             if (error) return a.done(error);
                             a.run<stat>([&](auto t) { value->async_compare_and_set(seen.stat, "new", std::move(t)); });
                           });
}

}  // namespace

std::vector<script> group_scripts() {
  return {
      {"membership", false, &be_a_member, {}, true},
      {"children view", false, &watch, {}, true},
      {"shared value set",
       false,
       [](actor& a) {
         shared_value value(a.zk(), "/shared/value");
         a.run<stat>([&](auto t) { value.async_set("x", std::move(t)); });
       },
       {},
       true},
      {"shared value compare and set", false, &compare_and_set, {errc::outcome_unknown}, true},
      {"counter add",
       false,
       [](actor& a) {
         counter sum(a.zk(), "/shared/sum");
         a.run<std::int64_t>([&](auto t) { sum.async_add(1, std::move(t)); });
       },
       {errc::outcome_unknown},
       true},
  };
}

}  // namespace zkrecipes::simulation
