// Processes that consume a stream are killed while entries are put and the broker is killed, too.
#include <random>

#include "redis/redis_case.hpp"
#include "support/line_process.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_kills, redis_case)

BOOST_AUTO_TEST_CASE(each_entry_has_its_effect_once_and_in_order) {
  auto& own_broker = use_own_broker({});
  create_election("g");
  std::mt19937 random(7);
  int number = 0;
  const auto put_some = [&] {
    for (int i = 0; i < 200; ++i) client().ask({"XADD", "orders:0", "*", "key", "k", "data", std::to_string(++number)});
  };
  const std::vector<std::string> command{KILLED_WORKER, hosts_of_worker(), root(), with.hosts};
  std::deque<line_process> workers;
  const auto begin = [&] { workers.emplace_back("worker", command); };
  begin();
  begin();
  for (int kills = 0; kills < 5; ++kills) {
    put_some();
    const auto wanted = static_cast<std::size_t>(number) - 199 + random() % 50;
    BOOST_TEST_REQUIRE(run_until([&] { return children("/results").size() >= wanted; }));
    workers.pop_front();  // it may be the one that leads
    begin();
    if (kills % 2 == 0) continue;
    own_broker.kill();
    client().disconnect();
    own_broker.start();
  }
  put_all({"last"});
  const auto kept = client().data_of("orders:0");
  BOOST_TEST_REQUIRE(has_results(kept.size()));
  workers.clear();
  BOOST_TEST(results() == kept, boost::test_tools::per_element());
  BOOST_TEST(kept.size() == 1'001u);
}

BOOST_AUTO_TEST_SUITE_END()
