// Many producers, consumers, letters and shards, and a server of ZooKeeper with many requests.
#include <algorithm>
#include <deque>
#include <map>

#include "brokers/many_case.hpp"
#include "rabbit/producer_case.hpp"
#include "support/single_server.hpp"

namespace zkrecipes::test {

struct rabbit_many_case : many_case<producer_case> {
  message_feed feed_of(const session& over) { return queues(over).feed(0); }
  bool has_shard(std::uint32_t shard) { return client().look_at(queue(shard)).has_value(); }
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(rabbit_many, rabbit_many_case)

#include "brokers/many_cases.hpp"

// One commit can make several letters. They must not be taken for one message.
BOOST_AUTO_TEST_CASE(letters_of_one_transaction_are_all_put_back) {
  put_all({"first"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  make_letters(3);
  for (const auto& each : letters_of(zk())) check(revive(zk(), each), {});
  BOOST_TEST_REQUIRE(has_results(4));
  BOOST_TEST(results() == std::vector<std::string>({"first", "1", "2", "3"}), boost::test_tools::per_element());
}

// Each write that would give it a number is lost, with the connection. The number is that of the write.
BOOST_AUTO_TEST_CASE(a_first_put_that_waits_for_its_number_gets_it_in_the_next_session) {
  auto far = connect_far();
  auto by = producer_of(far);
  const auto dropped = own().drops();
  own().drop_requests(testcluster::op::set_data, "/_producers/p");
  recorder<std::uint64_t> waits(executor());
  by.async_put("k", "1", waits.token());
  BOOST_TEST_REQUIRE(run_until([&] { return own().drops() > dropped; }));
  cluster().expire(far.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return far.counters().incarnations == 2; }));
  const auto dropped_until_then = own().drops();
  BOOST_TEST_REQUIRE(run_until([&] { return own().drops() > dropped_until_then; }));
  BOOST_TEST(!waits.done());
  own().heal();
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
  check(waits.error(), {});
  put_well(by, 2);
  has_put(2);
  const auto epoch = std::to_string(get("/t/_producers/p").stat.mzxid);
  BOOST_TEST(reader().read().front().id == "zkr:p:0:" + epoch + ":1");
}

BOOST_AUTO_TEST_SUITE_END()
