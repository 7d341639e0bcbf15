// Many producers, consumers, letters and shards, and a server of ZooKeeper with many requests.
#include <algorithm>
#include <deque>
#include <map>

#include "brokers/many_case.hpp"
#include "redis/producer_case.hpp"
#include "support/single_server.hpp"

namespace zkrecipes::test {

struct redis_many_case : many_case<producer_case> {
  message_feed feed_of(const session& over) { return streams(over).feed(0, "g"); }
  bool has_shard(std::uint32_t shard) { return client().get({"EXISTS", streams(zk()).stream_of(shard)})->integer != 0; }
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_many, redis_many_case)

#include "brokers/many_cases.hpp"

BOOST_AUTO_TEST_CASE(the_lag_of_ten_thousand_streams_is_one_look_at_each_position) {
  with.shards = 10'000;
  requests_of_first_put("1");
  const auto by = connect_logged();
  auto told = run(streams(by).async_lag("g", tuple));
  check(std::get<0>(told), {});
  const auto& lags = std::get<1>(told);
  BOOST_TEST_REQUIRE(lags.size() == 10'000u);
  BOOST_TEST(lags.front().messages == 1u);
  BOOST_TEST(std::ranges::count_if(lags, [](const source_lag& each) { return each.messages > 0; }) == 1);
  BOOST_TEST(requests.all().size() == 10'001u, "the positions, and the record of the streams");
}

BOOST_AUTO_TEST_SUITE_END()
