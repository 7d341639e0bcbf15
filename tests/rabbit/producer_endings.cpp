// Producers whose session, context or handle ends, of many threads, and of many and large messages.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>

#include <boost/asio/detached.hpp>

#include "rabbit/producer_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(rabbit_producer_endings, producer_case)

#include "brokers/producer_ending_cases.hpp"

BOOST_AUTO_TEST_CASE(a_session_that_is_closed_ends_the_puts_that_wait_for_a_confirm) {
  auto& between = use_proxy();
  auto own = connect(logging());
  rabbit_producer by(queues(own), "p");
  put_well(by, "1");
  between.blackhole(testcluster::proxy::way::to_client);
  recorder<std::uint64_t> waits(executor());
  by.async_put("k", "2", waits.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_depth(2); }));
  BOOST_TEST(!waits.done());
  BOOST_TEST(!std::get<0>(run(own.async_close(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
  check(waits.error(), errc::closed);
  between.heal();
}

BOOST_AUTO_TEST_CASE(large_messages_and_calls_over_many_queues) {
  with.shards = 8;
  auto by = producer();
  messages many;
  for (int i = 0; i < 10'000; ++i) many.push_back({"key " + std::to_string(i), std::to_string(i)});
  check(put_all_of(by, std::move(many)), {}, 10'000u);
  std::size_t found = 0;
  for (std::uint32_t shard = 0; shard < 8; ++shard) found += client().depth(queue(shard));
  BOOST_TEST(found == 10'000u);
  const auto over = queues(zk());
  std::string key("k\0y", 3);
  while (over.shard_of(key) != 0) key.push_back('y');
  std::string large(largest_message, 'x');
  large[1] = '\0';
  check(put(by, large, key), {});
  check(put(by, "", key), {});
  const auto& all_of_first = reader().read();
  BOOST_TEST_REQUIRE(all_of_first.size() >= 2u);
  const auto& last_but_one = all_of_first[all_of_first.size() - 2];
  BOOST_TEST(last_but_one.key == key);
  BOOST_TEST((last_but_one.data == large));
  BOOST_TEST(all_of_first.back().data.empty());
}

BOOST_AUTO_TEST_SUITE_END()
