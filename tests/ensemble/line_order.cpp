// Members get their turn in order of arrival, at the cost of few requests and one event.
#include "ensemble/campaigner.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(line_order, line_fixture)

BOOST_AUTO_TEST_CASE(a_free_line_costs_one_pipelined_round) {
  request_log log;
  auto with = options();
  with.trace = log.hook();
  campaigner only(*this, connect(with), "only");
  const int server = server_of(only.zk);
  BOOST_TEST_REQUIRE(run_until([&] { return log.count("sync") > 0; }));
  log.clear();
  const auto before = only.zk.counters().requests;

  cluster().proxy(server).freeze(true);
  only.start();
  BOOST_TEST(run_until([&] { return only.zk.counters().requests == before + 2; }),
             "both are sent before an answer comes");
  BOOST_TEST(log.all().empty());
  cluster().proxy(server).freeze(false);
  BOOST_TEST_REQUIRE(run_until([&] { return only.leads(); }));
  BOOST_TEST_REQUIRE(run_until([&] { return log.all().size() == 3; }));
  const std::vector<std::string> expected{"create " + root() + "/e/_c_", "children " + root() + "/e",
                                          "get " + root() + only.held().path()};
  BOOST_TEST(log.all()[0].starts_with(expected[0]), log.all()[0]);
  BOOST_TEST(log.all()[1] == expected[1]);
  BOOST_TEST(log.all()[2] == expected[2]);
  settle(only.zk);
  BOOST_TEST(log.all().size() == 4u, "no other request, but for that sync");
  release(only);
}

BOOST_AUTO_TEST_CASE(the_path_is_created_when_it_is_missing) {
  remove("/e");
  campaigner first(*this, connect(), "first");
  first.start();
  BOOST_TEST_REQUIRE(run_until([&] { return first.leads(); }));
  release(first);
}

BOOST_AUTO_TEST_CASE(a_try_leads_at_once_or_writes_nothing) {
  request_log log;
  auto with = options();
  with.trace = log.hook();
  campaigner trying(*this, connect(with), "trying");
  auto [error, held] = run(trying.contest.async_try_campaign(tuple));
  BOOST_TEST_REQUIRE(!error, error.message());
  BOOST_TEST(!std::get<0>(run(held.async_release(tuple))));
  auto& leader = join();
  catch_up(trying.zk);
  log.clear();
  BOOST_TEST(std::get<0>(run(trying.contest.async_try_campaign(tuple))) == errc::busy);
  BOOST_TEST(log.count("create") == 0);
  BOOST_TEST(log.count("children") == 1);
  BOOST_TEST(in_line() == 1u);
  release(leader);
}

BOOST_AUTO_TEST_CASE(everybody_leads_in_order_of_arrival_and_alone) {
  std::vector<campaigner*> line;
  for (int i = 0; i < 5; ++i) line.push_back(&join());
  std::int64_t token = 0;
  for (std::size_t turn = 0; turn < line.size(); ++turn) {
    BOOST_TEST_REQUIRE(run_until([&] { return line[turn]->leads(); }));
    for (std::size_t later = turn + 1; later < line.size(); ++later) BOOST_TEST(!line[later]->result.done());
    BOOST_TEST(line[turn]->held().token() > token, "tokens grow");
    token = line[turn]->held().token();
    release(*line[turn]);
    BOOST_TEST(line[turn]->held().error() == errc::closed);
  }
}

BOOST_AUTO_TEST_CASE(tokens_grow_over_the_life_of_the_path_too) {
  std::int64_t token = 0;
  for (int i = 0; i < 3; ++i) {
    auto& next = join();
    BOOST_TEST_REQUIRE(run_until([&] { return next.leads(); }));
    BOOST_TEST(next.held().token() > token);
    BOOST_TEST(next.held().token() == get(next.held().path()).stat.czxid);
    token = next.held().token();
    release(next);
    remove("/e");  // this removes the count of its sequence numbers, too
    create("/e");
  }
}

BOOST_AUTO_TEST_CASE(one_of_a_hundred_waiters_is_woken_per_release) {
  auto& leader = join();
  std::vector<session> waiting;
  for (int i = 0; i < 5; ++i) waiting.push_back(connect());
  std::vector<campaigner*> line;
  for (std::size_t i = 0; i < 100; ++i) line.push_back(&join(waiting[i % waiting.size()]));
  // Each member watches its own node, and each but the first one another member's node, too.
  BOOST_TEST_REQUIRE(run_until([] { return watches_on_servers() == 101 + 100; }));
  auto events = [&] {
    std::uint64_t sum = 0;
    for (auto& each : waiting) {
      settle(each);
      sum += each.counters().watch_events;
    }
    return sum;
  };
  const auto before = events();
  release(leader);
  BOOST_TEST_REQUIRE(run_until([&] { return line[0]->leads(); }));
  BOOST_TEST(events() == before + 1);
  for (auto* each : line) {
    if (!each->leads()) each->result.cancel();
  }
  BOOST_TEST_REQUIRE(run_until([&] { return in_line() == 1; }));
  release(*line[0]);
}

BOOST_AUTO_TEST_CASE(one_who_leaves_the_middle_moves_nobody_up_to_the_front) {
  std::vector<campaigner*> line;
  for (int i = 0; i < 5; ++i) line.push_back(&join());
  line[2]->result.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return in_line() == 4; }));
  settle(line[3]->zk);
  BOOST_TEST(!line[3]->result.done());
  release(*line[0]);
  BOOST_TEST_REQUIRE(run_until([&] { return line[1]->leads(); }));
  settle(line[3]->zk);
  BOOST_TEST(!line[3]->result.done(), "it waits for its new neighbour");
  release(*line[1]);
  BOOST_TEST_REQUIRE(run_until([&] { return line[3]->leads(); }));
  BOOST_TEST(!line[4]->result.done());
  release(*line[3]);
  BOOST_TEST_REQUIRE(run_until([&] { return line[4]->leads(); }));
  release(*line[4]);
}

BOOST_AUTO_TEST_CASE(one_session_can_stand_in_line_many_times) {
  auto shared = connect();
  auto& first = join(shared);
  auto& second = join(shared);
  BOOST_TEST_REQUIRE(run_until([&] { return first.leads(); }));
  settle(shared);
  BOOST_TEST(!second.result.done());
  release(first);
  BOOST_TEST_REQUIRE(run_until([&] { return second.leads(); }));
  release(second);
}

BOOST_AUTO_TEST_SUITE_END()
