// Nodes that are kept, groups, shard groups, views and services; and tracks of a balance, which need no session.
#include <zkrecipes/consumer/shard_group.hpp>
#include <zkrecipes/consumer/shard_group_follower.hpp>
#include <zkrecipes/consumer/shard_router.hpp>

#include "operations/subjects.hpp"

namespace zkrecipes::test {

namespace {

service_instance described(const char* id) {
  service_instance one;
  one.name = "billing";
  one.id = id;
  one.address = "10.0.0.7";
  return one;
}

subject of_persistent_node() {
  return subject_of<persistent_node>("persistent_node")
      .made([](const session& zk) { return persistent_node(zk, "/kept", "x"); })
      .has("persistent_node::async_started()", [](auto& n, auto t) { n.async_started(std::move(t)); })
      .has("persistent_node::async_set_data(data)", [](auto& n, auto t) { n.async_set_data("y", std::move(t)); })
      .has_always("persistent_node::async_status_change(seen)",
                  [](auto& n, auto t) { n.async_status_change(n.status().changes, std::move(t)); })
      .has_always("persistent_node::async_close()", [](auto& n, auto t) { n.async_close(std::move(t)); });
}

subject of_membership() {
  return subject_of<membership>("membership")
      .made([](const session& zk) { return membership(zk, "/group"); })
      .has("membership::async_join(name, data)", [](auto& m, auto t) { m.async_join("a", "", std::move(t)); });
}

subject of_joined_member() {
  return subject_of<joined_member>("joined_member")
      .had([](const session& zk, auto got) { membership(zk, "/group").async_join("a", "", std::move(got)); })
      .has("joined_member::async_update(data)", [](auto& m, auto t) { m.async_update("y", std::move(t)); })
      .has_always("joined_member::async_leave()", [](auto& m, auto t) { m.async_leave(std::move(t)); })
      .has_always("joined_member::async_status_change(seen)",
                  [](auto& m, auto t) { m.async_status_change(m.status().changes, std::move(t)); });
}

subject of_children_view() {
  return subject_of<children_view>("children_view")
      .made([](const session& zk) { return children_view(zk, "/group"); })
      .has("children_view::async_current()", [](auto& v, auto t) { v.async_current(std::move(t)); })
      .has("children_view::async_change(seen)", [](auto& v, auto t) { v.async_change({}, std::move(t)); });
}

subject of_service_discovery() {
  return subject_of<service_discovery>("service_discovery")
      .made([](const session& zk) { return service_discovery(zk, "/services"); })
      .has("service_discovery::async_register(instance)",
           [](auto& d, auto t) { d.async_register(described("1"), std::move(t)); })
      .has("service_discovery::async_services()", [](auto& d, auto t) { d.async_services(std::move(t)); });
}

subject of_service_registration() {
  const auto begin = [](const session& zk, auto got) {
    service_discovery(zk, "/services").async_register(described("1"), std::move(got));
  };
  return subject_of<service_registration>("service_registration")
      .had(begin)
      .has("service_registration::async_update(instance)",
           [](auto& r, auto t) { r.async_update(described("1"), std::move(t)); })
      .has("service_registration::async_set_enabled(enabled)",
           [](auto& r, auto t) { r.async_set_enabled(false, std::move(t)); })
      .has_always("service_registration::async_unregister()", [](auto& r, auto t) { r.async_unregister(std::move(t)); })
      .has_always("service_registration::async_status_change(seen)",
                  [](auto& r, auto t) { r.async_status_change(r.status().changes, std::move(t)); });
}

subject of_service_view() {
  return subject_of<service_view>("service_view")
      .made([](const session& zk) { return service_discovery(zk, "/services").watch("billing"); })
      .has("service_view::async_current()", [](auto& v, auto t) { v.async_current(std::move(t)); })
      .has("service_view::async_change(seen)", [](auto& v, auto t) { v.async_change({}, std::move(t)); });
}

subject of_service_provider() {
  return subject_of<service_provider>("service_provider")
      .made([](const session& zk) { return service_provider(service_discovery(zk, "/services"), "billing"); })
      .has("service_provider::async_pick()", [](auto& p, auto t) { p.async_pick(std::move(t)); }, {errc::no_node});
}

subject of_balance_track() {
  return subject_of<balance_track>("balance_track")
      .made([](const session& zk) { return balance(zk.get_executor()).track("a"); })
      .has_always("balance_track::async_move()", [](auto& b, auto t) { b.async_move(std::move(t)); });
}

}  // namespace

std::vector<subject> group_subjects() {
  return {of_persistent_node(), of_membership(),        of_joined_member(),
          of_children_view(),   of_service_discovery(), of_service_registration(),
          of_service_view(),    of_service_provider(),  of_balance_track()};
}

// Shard groups and routers.

namespace {

/// Owns its shard until the term is to end.
struct shard_career : leader_career {
  asio::awaitable<void> inaugurate(term) override { co_return; }
  asio::awaitable<void> execute(term present) override {
    auto ending = present.async_ending(asio::use_awaitable);
    co_await std::move(ending);
  }
  asio::awaitable<void> hand_over(term, term_end) override { co_return; }
};

subject of_shard_group() {
  return subject_of<shard_group>("shard_group")
      .made([](const session& zk) { return shard_group(zk, "/shards", {.id = "a", .shards = 3}); })
      .has("shard_group::async_run(make)",
           [](auto& g, auto t) {
             g.async_run([](const shard&) { return std::make_unique<shard_career>(); }, std::move(t));
           })
      .has("shard_group::async_view()", [](auto& g, auto t) { g.async_view(std::move(t)); }, {errc::no_node})
      .has("shard_group::async_freeze(frozen)", [](auto& g, auto t) { g.async_freeze(true, std::move(t)); },
           {errc::no_node})
      .has("shard_group::async_release(number)", [](auto& g, auto t) { g.async_release(1, std::move(t)); },
           {errc::no_node});
}

subject of_shard_router() {
  return subject_of<shard_router>("shard_router")
      .made([](const session& zk) { return shard_router(zk, "/shards"); })
      .has("shard_router::async_started()", [](auto& r, auto t) { r.async_started(std::move(t)); });
}

subject of_shard_group_follower() {
  return subject_of<shard_group_follower>("shard_group_follower")
      .made([](const session& zk) { return shard_group_follower(zk, "/shards"); })
      .has("shard_group_follower::async_change(seen)", [](auto& f, auto t) { f.async_change(0, std::move(t)); },
           {errc::no_node});
}

}  // namespace

std::vector<subject> shard_subjects() { return {of_shard_group(), of_shard_group_follower(), of_shard_router()}; }

}  // namespace zkrecipes::test
