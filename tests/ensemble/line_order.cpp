// Members get their turn in order of arrival, at the cost of few requests and one event.
#include "ensemble/campaigner.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(line_order, line_fixture)

BOOST_AUTO_TEST_CASE(a_free_line_costs_one_pipelined_round) {
  request_log log;
  campaigner only(*this, connect(log.noted(options())), "only");
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
  campaigner trying(*this, connect(log.noted(options())), "trying");
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

// Foreign nodes below the path: nodes of other clients in line, and nodes that mean nothing.

namespace {

// Names as Curator and kazoo write them.
const std::string curator_name = "/e/_c_3a0f6f0e-5d55-4c0b-9a7c-2f1f7c1b6a11-latch-";
const std::string selector_name = "/e/_c_8b1f6f0e-5d55-4c0b-9a7c-2f1f7c1b6a22-lock-";
const std::string kazoo_name = "/e/1f0c2a7be4d94fd1a7d0c61fd6f3b0aa__lock__";

class neighbours : public line_fixture {
 public:
  /// Creates the node of another client, in line like ours; returns its full path.
  std::string stand(const std::string& name, const std::string& data) {
    return must(run(zk().async_create(name, data, create_mode::ephemeral_sequential, tuple))).path;
  }

  void is_respected(const std::string& name) {
    const auto foreign = stand(name, "stranger");
    auto& ours = join();
    settle(ours.zk);
    settle(ours.zk);
    BOOST_TEST(!ours.result.done());
    remove(foreign);
    BOOST_TEST_REQUIRE(run_until([&] { return ours.leads(); }));
    release(ours);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(line_neighbours, neighbours)

BOOST_AUTO_TEST_CASE(what_is_not_in_line_is_ignored) {
  const std::vector<std::string> strange{"/e/a",
                                         "/e/lock",
                                         "/e/latch-",
                                         "/e/x-latch-12",
                                         "/e/latch-00000000x1",
                                         "/e/0000000000",
                                         "/e/_c_-read-0000000000"};
  for (const auto& each : strange) create(each);
  auto& ours = join();
  BOOST_TEST_REQUIRE(run_until([&] { return ours.leads(); }));
  auto view = run(ours.contest.async_view(tuple));
  BOOST_TEST(std::get<1>(view).candidates.size() == 1u);
  release(ours);
  for (const auto& each : strange) remove(each);
}

BOOST_AUTO_TEST_CASE(curators_latch_ahead_is_respected) { is_respected(curator_name); }
BOOST_AUTO_TEST_CASE(curators_selector_ahead_is_respected) { is_respected(selector_name); }
BOOST_AUTO_TEST_CASE(kazoos_election_ahead_is_respected) { is_respected(kazoo_name); }

BOOST_AUTO_TEST_CASE(a_foreign_leader_is_seen_with_its_raw_id_and_without_a_phase) {
  const auto foreign = stand(curator_name, "host-17/raw id");
  auto& ours = join();
  auto [error, view] = run(ours.contest.async_view(tuple));
  BOOST_TEST_REQUIRE(!error, error.message());
  BOOST_TEST(view.leader == "host-17/raw id");
  BOOST_TEST(view.leader_token == get(foreign).stat.czxid);
  BOOST_TEST(view.phase == term_phase::none);
  BOOST_TEST(!view.how.has_value());
  BOOST_TEST_REQUIRE(view.candidates.size() == 2u);
  BOOST_TEST(view.candidates[0].id == "host-17/raw id");
  BOOST_TEST(view.candidates[1].position == 1);
  remove(foreign);
  BOOST_TEST_REQUIRE(run_until([&] { return ours.leads(); }));
  release(ours);
}

BOOST_AUTO_TEST_CASE(order_is_that_of_the_numbers_not_of_the_names) {
  const auto last = stand("/e/_c_00000000-0000-0000-0000-000000000000-latch-", "early in the alphabet");
  remove(last);
  auto& ours = join();
  BOOST_TEST_REQUIRE(run_until([&] { return ours.leads(); }));
  const auto behind = stand("/e/_c_00000000-0000-0000-0000-000000000000-latch-", "early in the alphabet");
  auto [error, view] = run(ours.contest.async_view(tuple));
  BOOST_TEST_REQUIRE(!error, error.message());
  BOOST_TEST(view.leader == "c0");
  remove(behind);
  release(ours);
}

BOOST_AUTO_TEST_SUITE_END()
