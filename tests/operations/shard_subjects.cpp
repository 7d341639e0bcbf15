// Shard groups and routers.
#include <zkrecipes/consumer/shard_group.hpp>
#include <zkrecipes/consumer/shard_group_follower.hpp>
#include <zkrecipes/consumer/shard_router.hpp>

#include "operations/subjects.hpp"

namespace zkrecipes::test {

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
