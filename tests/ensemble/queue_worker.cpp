// The leader works off a queue: each message has its effect once and in order, even if leaders die.
#include <zkrecipes/consumer/queue_consumer.hpp>

#include "ensemble/queue_case.hpp"
#include "ensemble/replica.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// Writes each processed message as a sequential node, so that a stale leader's writes would spoil the order.
class worker final : public queue_consumer {
 public:
  worker(queue from, hold_point* hold) : queue_consumer(std::move(from)), hold_(hold) {}

  career_traits traits() const override { return {.hand_over_deadline = 20s}; }

  asio::awaitable<message_outcome> process(term present, const message& item) override {
    epoch = present.epoch();
    if (hold_) co_await hold_->pass();
    co_return transaction().create("/results/r-", item.data, create_mode::persistent_sequential);
  }

  std::int64_t epoch = 0;

 private:
  hold_point* hold_;
};

struct replica_of_worker {
  replica_of_worker(session over, std::string id, hold_point* hold = nullptr)
      : zk(std::move(over)),
        does(queue(zk, "/q"), hold),
        coordinator(zk, "/e", {.id = std::move(id)}),
        ended(zk.get_executor()) {
    coordinator.async_run(does, ended.token());
  }

  session zk;
  worker does;
  consumer_coordinator coordinator;
  recorder<> ended;
};

class workers : public queue_case {
 public:
  workers() {
    create("/e");
    create("/results");
  }
  void teardown() {
    end_runs(all);
    for (const auto& each : children("/results")) run(zk().async_remove("/results/" + each, any_version, tuple));
    remove("/results");
    remove("/e");
    queue_case::teardown();
  }

  replica_of_worker& add(session over, hold_point* hold = nullptr) {
    return all.emplace_back(std::move(over), "w" + std::to_string(all.size()), hold);
  }
  std::size_t processed() { return children("/results").size(); }
  /// The session id of the first in line; 0 if nobody is.
  std::int64_t leading_session() {
    auto seen = run(election(zk(), "/e", {.id = "observer"}).async_view(tuple));
    const auto& candidates = std::get<1>(seen).candidates;
    return std::get<0>(seen) || candidates.empty() ? 0 : candidates[0].session_id;
  }

  bool leads(const replica_of_worker& who) {
    const auto leader = leading_session();
    return leader != 0 && leader == who.zk.status().session_id;
  }

  std::deque<replica_of_worker> all;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_worker, workers)

BOOST_AUTO_TEST_CASE(every_message_has_its_effect_once_and_in_order_though_leaders_expire) {
  for (int i = 0; i < 3; ++i) add(connect());
  {
    auto source = make_producer(zk(), "p");
    std::size_t put = 0;
    for (const auto& each : numbers(1, 200)) {
      source.async_put(each, [&](error_code error, std::uint64_t) { put += error ? 0 : 1; });
    }
    for (std::size_t milestone = 40; milestone < 200; milestone += 40) {
      BOOST_TEST_REQUIRE(run_until([&] { return processed() >= milestone; }));
      BOOST_TEST_REQUIRE(run_until([&] { return leading_session() != 0; }));
      cluster().expire(leading_session());
    }
    BOOST_TEST_REQUIRE(run_until([&] { return put == 200 && processed() >= 200; }));
  }
  BOOST_TEST(size() == 0u);
  BOOST_TEST(results() == numbers(1, 200), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(nor_does_it_matter_that_replies_are_lost) {
  for (const auto& each : numbers(1, 40)) put(each);
  // These transactions include those of the term's record.
  for (int k = 1; k <= 8; ++k) own().drop_reply(testcluster::op::multi, 4 * k);
  add(connect(far_options()));
  BOOST_TEST_REQUIRE(run_until([&] { return processed() >= 40; }));
  BOOST_TEST(own().drops() == 8u);
  BOOST_TEST(size() == 0u);
  BOOST_TEST(results() == numbers(1, 40), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_message_in_hand_of_an_expired_leader_is_committed_once) {
  hold_point hold(executor());
  auto& first = add(connect(), &hold);
  put("1");
  put("2");
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached(); }));
  auto& second = add(connect());
  cluster().expire(first.zk.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return leads(second); }));
  BOOST_TEST(processed() == 0u);
  hold.open();
  BOOST_TEST_REQUIRE(run_until([&] { return processed() >= 2; }));
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  BOOST_TEST(first.does.epoch == 1);
  BOOST_TEST(second.does.epoch == 2);
}

BOOST_AUTO_TEST_CASE(a_message_that_somebody_deletes_is_passed_over) {
  hold_point hold(executor());
  auto& first = add(connect(), &hold);
  put("1");
  put("2");
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached(); }));
  auto items = children("/q");
  std::erase_if(items, [](const std::string& name) { return !name.starts_with("qn-"); });
  std::sort(items.begin(), items.end());
  BOOST_TEST_REQUIRE(items.size() == 2u);
  remove("/q/" + items[0]);
  hold.open();
  BOOST_TEST_REQUIRE(run_until([&] { return processed() >= 1 || first.ended.done(); }));
  BOOST_TEST(!first.ended.done());
  BOOST_TEST(results() == numbers(2, 2), boost::test_tools::per_element());
  BOOST_TEST(first.does.epoch == 1);
}

BOOST_AUTO_TEST_CASE(a_leader_with_an_empty_queue_resigns_at_once) {
  auto& first = add(connect());
  put("1");
  BOOST_TEST_REQUIRE(run_until([&] { return processed() == 1; }));
  auto& second = add(connect());
  BOOST_TEST_REQUIRE(run_until([&] { return children("/e").size() == 2; }));
  first.coordinator.resign();
  BOOST_TEST_REQUIRE(run_until([&] { return leading_session() == second.zk.status().session_id; }));
  put("2");
  BOOST_TEST_REQUIRE(run_until([&] { return processed() == 2; }));
  BOOST_TEST(second.does.epoch == 2);
}

BOOST_AUTO_TEST_CASE(closing_the_session_of_a_busy_leader_is_no_failure) {
  for (const auto& each : numbers(1, 50)) put(each);
  replica_of_worker leader(connect(), "closing");
  BOOST_TEST_REQUIRE(run_until([&] { return processed() >= 5; }));
  run(leader.zk.async_close(tuple));
  BOOST_TEST_REQUIRE(run_until([&] { return leader.ended.done(); }));
  BOOST_TEST(leader.ended.error() == errc::closed);
  BOOST_TEST((leader.coordinator.failure() == nullptr));
  const auto worked_off = processed();
  BOOST_TEST(results() == numbers(1, static_cast<int>(worked_off)), boost::test_tools::per_element());
  BOOST_TEST(size() == 50 - worked_off);
  drain();
}

BOOST_AUTO_TEST_SUITE_END()
