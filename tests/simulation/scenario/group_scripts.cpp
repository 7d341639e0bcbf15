// The operations of groups, services and shared values, to be tried under every single fault.
#include <memory>
#include <utility>

#include <zkrecipes/counter.hpp>
#include <zkrecipes/membership.hpp>
#include <zkrecipes/service_provider.hpp>
#include <zkrecipes/shared_value.hpp>

#include "scenario/scripts.hpp"

namespace zkrecipes::simulation {

namespace {

/// Joins, changes its data, and leaves.
void be_a_member(actor& a) {
  auto group = std::make_shared<membership>(a.zk(), script_group);
  auto self = std::make_shared<joined_member>();
  auto leave = [&a, self](error_code error) {
    if (error) *self = joined_member();
    if (error) return a.done(error);
    a.all().start<>(
        a.signal(), [self](auto t) { self->async_leave(std::move(t)); }, [&a, self](error_code left) { a.done(left); });
  };
  auto update = [&a, self, leave](error_code error, joined_member joined) {
    if (error) return a.done(error);
    *self = std::move(joined);
    a.all().start<>(
        a.signal(), [self](auto t) { self->async_update("new", std::move(t)); }, leave);
  };
  a.all().start<joined_member>(
      a.signal(), [group](auto t) { group->async_join("actor", "old", std::move(t)); }, std::move(update));
}

/// Waits until it sees that a member joins.
void watch(actor& a) {
  auto view = std::make_shared<children_view>(a.zk(), script_group);
  auto other = std::make_shared<persistent_node>(a.zk(), std::string(script_group) + "/other", "");
  auto look_again = [&a, view, other](error_code error, children_snapshot seen) {
    if (error || !seen.nodes.empty()) return a.done(error);
    a.all().start<children_change>(
        a.signal(), [view, seen](auto t) { view->async_change(seen, std::move(t)); },
        [&a, view, other](error_code end, children_change) { a.done(end); });
  };
  a.all().start<children_snapshot>(
      a.signal(), [view](auto t) { view->async_current(std::move(t)); }, std::move(look_again));
}

service_instance make_instance(service_type type) {
  service_instance one;
  one.name = "shop";
  one.id = "actor";
  one.type = type;
  return one;
}

/// Registers, drains, and unregisters.
void be_an_instance(actor& a, service_type type) {
  auto services = std::make_shared<service_discovery>(a.zk(), script_services);
  auto self = std::make_shared<service_registration>();
  auto unregister = [&a, self](error_code error) {
    if (error) *self = service_registration();
    if (error) return a.done(error);
    a.run<>([self](auto t) { self->async_unregister(std::move(t)); }, self);
  };
  auto drain = [&a, self, unregister](error_code error, service_registration made) {
    if (error) return a.done(error);
    *self = std::move(made);
    a.all().start<>(
        a.signal(), [self](auto t) { self->async_set_enabled(false, std::move(t)); }, unregister);
  };
  a.all().start<service_registration>(
      a.signal(), [services, type](auto t) { services->async_register(make_instance(type), std::move(t)); },
      std::move(drain));
}

/// Waits until it sees that an instance is registered, and picks it.
void look_for_one(actor& a) {
  auto services = std::make_shared<service_discovery>(a.zk(), script_services);
  auto provider = std::make_shared<service_provider>(*services, "shop");
  auto view = std::make_shared<service_view>(services->watch("shop"));
  a.aside<service_registration>(
      [&](auto t) { services->async_register(make_instance(service_type::dynamic), std::move(t)); });
  auto choose = [&a, provider, view](error_code error, service_change) {
    if (error) return a.done(error);
    a.run<service_instance>([provider](auto t) { provider->async_pick(std::move(t)); }, provider);
  };
  a.all().start<service_change>(
      a.signal(), [view](auto t) { view->async_change({}, std::move(t)); }, std::move(choose));
}

void compare_and_set(actor& a) {
  auto value = std::make_shared<shared_value>(a.zk(), script_node);
  a.all().start<node_data>(
      a.signal(), [value](auto t) { value->async_get(std::move(t)); },
      [&a, value](error_code error, node_data seen) {
        if (error) return a.done(error);
        a.run<node_stat>([&](auto t) { value->async_compare_and_set(seen.stat, "new", std::move(t)); });
      });
}

}  // namespace

std::vector<script> group_scripts() {
  return {
      {"membership", false, &be_a_member, {}, true},
      {"children view", false, &watch, {}, true},
      {"service instance", false, [](actor& a) { be_an_instance(a, service_type::dynamic); }, {}, true},
      {"static service instance", false, [](actor& a) { be_an_instance(a, service_type::static_node); }, {}, true},
      {"service provider", false, &look_for_one, {errc::no_node}, true},
      {"services",
       false,
       [](actor& a) {
         service_discovery services(a.zk(), script_services);
         a.run<std::vector<std::string>>([&](auto t) { services.async_services(std::move(t)); });
       },
       {},
       true},
      {"shared value set",
       false,
       [](actor& a) {
         shared_value value(a.zk(), "/shared/value");
         a.run<node_stat>([&](auto t) { value.async_set("x", std::move(t)); });
       },
       {errc::outcome_unknown},
       true},
      {"shared value compare and set", false, &compare_and_set, {errc::outcome_unknown}, true},
      {"shared value first set",
       false,
       [](actor& a) {
         shared_value value(a.zk(), "/shared/value");
         a.run<node_stat>([&](auto t) { value.async_compare_and_set(node_stat(), "x", std::move(t)); });
       },
       {errc::outcome_unknown},
       true},
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
