// The limit of a consumer over hand-overs between two replicas.
#include "ensemble/delivery_case.hpp"
#include "support/bound_judge.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class limited_deliveries : public deliveries {
 public:
  limited_deliveries() { hold.emplace(executor()); }
  void teardown() {
    hold->open();
    end_runs(all);
    hold.reset();
    while (size() > 0) pop(over(zk()));
    deliveries::teardown();
  }

  /// A second replica stands in line when this returns.
  void consume_by_two(message_limit limit, const processor& does, career_traits traits = {}) {
    options.limit = limit;
    options.window = 4;
    consume(does, traits);
    BOOST_TEST_REQUIRE(run_until([&] { return phase_of(0) == coordinator_phase::executing; }));
    consume(does, traits);
    BOOST_TEST_REQUIRE(run_until([&] { return all[1].coordinator.status().ahead == 1u; }));
  }
  coordinator_phase phase_of(std::size_t which) const { return all[which].coordinator.status().phase; }
  queue_consumer_status status_of_second() const { return all[1].does.status(); }
  /// How the present term has taken over.
  bool took_over(const std::string& how) {
    settle(zk());
    return get("/e").data.find(R"("how":")" + how) != std::string::npos;
  }
  void wait_results(const std::vector<std::string>& expected) {
    run_until([&] { return results().size() >= expected.size(); });
    BOOST_TEST(results() == expected, boost::test_tools::per_element());
  }

  std::optional<hold_point> hold;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_limited, limited_deliveries)

BOOST_AUTO_TEST_CASE(a_clean_hand_over_passes_on_what_is_left) {
  consume_by_two({.rate = 1, .per = 1h, .burst = 3}, &succeed);
  put("1");
  wait_results(numbers(1, 1));
  all[0].coordinator.resign();
  BOOST_TEST_REQUIRE(run_until([&] { return phase_of(1) == coordinator_phase::executing; }));
  put_all(numbers(2, 4));
  BOOST_TEST_REQUIRE(run_until([&] { return status_of_second().done == 2 && status_of_second().limited == 1; }));
  BOOST_TEST(took_over("clean"));
  wait_results(numbers(1, 3));
}

BOOST_AUTO_TEST_CASE(a_message_that_waits_does_not_delay_the_hand_over) {
  consume_by_two({.rate = 1, .per = 1h}, &succeed);
  put_all(numbers(1, 2));
  BOOST_TEST_REQUIRE(run_until([&] { return all[0].does.status().limited == 1; }));
  all[0].coordinator.resign();
  BOOST_TEST_REQUIRE(run_until([&] { return status_of_second().limited == 1; }));
  BOOST_TEST(took_over("clean"));
  BOOST_TEST(!all[0].does.attempts.contains("2"));
  BOOST_TEST(all[1].does.attempts.empty());
  BOOST_TEST(results() == numbers(1, 1), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_forced_term_begins_without_credit) {
  auto waits = [this](term, message item) -> asio::awaitable<message_outcome> {
    co_await hold->pass_in_the_end();
    co_return effect_of(item);
  };
  consume_by_two({.rate = 1, .per = 1h, .burst = 3}, waits, {.hand_over_deadline = 0ms});
  put("1");
  BOOST_TEST_REQUIRE(run_until([&] { return hold->is_reached(); }));
  cluster().expire(all[0].zk.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return status_of_second().limited == 1; }));
  BOOST_TEST(took_over("forced"));
  BOOST_TEST(all[1].does.attempts.empty());
}

BOOST_AUTO_TEST_CASE(a_hold_off_of_a_call_in_hand_reaches_the_next_in_line) {
  auto asks_for_a_pause = [this](term, message) -> asio::awaitable<message_outcome> {
    co_await hold->pass();
    co_return message_outcome::hold_off(1h, "busy");
  };
  consume_by_two({.rate = 1, .per = 1ms, .burst = 10}, asks_for_a_pause, {.hand_over_deadline = 20s});
  put("1");
  BOOST_TEST_REQUIRE(run_until([&] { return hold->is_reached(); }));
  all[0].coordinator.resign();
  BOOST_TEST_REQUIRE(run_until([&] { return get("/e").data.find("handing_over") != std::string::npos; }));
  hold->open();
  BOOST_TEST_REQUIRE(run_until([&] { return status_of_second().limited == 1; }));
  settle(zk());
  BOOST_TEST(took_over("clean"));
  BOOST_TEST(status_of_second().limited == 1u);
  BOOST_TEST(all[1].does.attempts.empty());
}

/// A call can run later than its message is begun. As one call runs at a time, that exceeds the bound by one.
BOOST_AUTO_TEST_CASE(calls_keep_to_the_limit_over_many_terms) {
  constexpr std::int64_t burst = 3;
  bound_judge judge(1, 10ms, burst + 1);
  bool keeps_to_it = true;
  auto counts = [&](term, message item) -> asio::awaitable<message_outcome> {
    keeps_to_it = keeps_to_it && judge.add(lease_clock::now(), 1);
    co_return effect_of(item);
  };
  consume_by_two({.rate = 1, .per = 10ms, .burst = burst}, counts);
  put_all(numbers(1, 60));
  for (std::size_t done = 10; done <= 50; done += 10) {
    BOOST_TEST_REQUIRE(run_until([&] { return all[0].does.status().done + all[1].does.status().done >= done; }));
    for (auto& each : all) each.coordinator.resign();
  }
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == numbers(1, 60), boost::test_tools::per_element());
  BOOST_TEST(keeps_to_it);
  BOOST_TEST(all[0].coordinator.status().epoch >= 3);
}

BOOST_AUTO_TEST_SUITE_END()
