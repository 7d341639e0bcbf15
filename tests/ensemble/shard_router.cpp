// Routers follow who owns which shard.
#include <zkrecipes/consumer/shard_router.hpp>

#include "ensemble/shard_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct router_case : shard_case {
  shard_owner& add_at(const std::string& id, const std::string& address) {
    auto how = with(id);
    how.data = address;
    auto& last = make(connect(), how);
    last.start();
    return last;
  }
};

/// Whether the router knows for each shard the member that executes it.
bool agrees(const shard_router& router, const std::vector<shard_owner*>& members, std::uint32_t shards) {
  std::size_t right = 0;
  for (const auto* each : members) {
    for (const auto number : each->executing) {
      const auto route = router.owner(number);
      if (route && route->id == each->group.options().id) ++right;
    }
  }
  return right == shards;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shard_routers, router_case)

BOOST_AUTO_TEST_CASE(a_router_follows_the_group) {
  shard_router router(zk(), "/g");
  BOOST_TEST(!router.route("k"));
  auto& a = add_at("a", "10.0.0.1:80");
  BOOST_TEST(!std::get<0>(run(router.async_started(tuple))));
  wait([&] { return agrees(router, {&a}, 12); });
  BOOST_TEST(router.count() == 12u);
  const auto route = router.route("some key");
  BOOST_TEST_REQUIRE(route.has_value());
  BOOST_TEST(route->data == "10.0.0.1:80");
  BOOST_TEST(route->node == a.group.status().member);
  auto& b = add_at("b", "10.0.0.2:80");
  wait([&] { return b.executing.size() == 6 && agrees(router, {&a, &b}, 12); });
  a.group.drain();
  wait([&] { return agrees(router, {&b}, 12); });
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_map_that_is_no_map_is_told_and_replaced) {
  auto& a = add("a");
  wait_shares({{&a, 12}});
  {
    shard_router router(zk(), "/g");
    BOOST_TEST(!std::get<0>(run(router.async_started(tuple))));
    run(zk().async_set("/g/map", "no map", any_version, tuple));
    shard_router other(zk(), "/g");
    BOOST_TEST(std::get<0>(run(other.async_started(tuple))) == errc::foreign_data);
    auto& b = add("b");
    wait([&] { return b.executing.size() == 6 && agrees(other, {&a, &b}, 12) && agrees(router, {&a, &b}, 12); });
  }
  stop_all();
}

BOOST_AUTO_TEST_SUITE_END()
