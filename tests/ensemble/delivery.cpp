// What happens to a message that can not be processed, and to the others meanwhile.
#include <algorithm>
#include <deque>

#include "ensemble/delivery_case.hpp"
#include "support/bound_judge.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(delivery, deliveries)

BOOST_AUTO_TEST_CASE(a_message_that_throws_is_parked_and_the_run_goes_on) {
  put_all({"1", "poison", "2"});
  auto& who = consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "poison") throw std::runtime_error("it can not be read");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  const auto letters = dead_letters(over(zk()));
  BOOST_TEST_REQUIRE(letters.size() == 1u);
  BOOST_TEST(letters[0].data == "poison");
  BOOST_TEST(letters[0].reason == "it can not be read");
  BOOST_TEST(letters[0].attempts == 3);
  BOOST_TEST(letters[0].epoch == 1);
  BOOST_TEST(letters[0].first_failed > 0);
  BOOST_TEST(letters[0].last_failed >= letters[0].first_failed);
  BOOST_TEST(who.does.attempts["poison"] == std::vector<std::int32_t>({1, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST(who.does.ends.empty());
  BOOST_TEST(run_until([&] { return who.does.status().parked == 1; }));
  BOOST_TEST(who.does.status().again == 3u);
  BOOST_TEST(who.does.status().done == 2u);
}

BOOST_AUTO_TEST_CASE(many_messages_travel_in_one_commit_in_order) {
  options.window = 256;
  put_all(numbers(1, 300));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == numbers(1, 300), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done == 300; }));
  BOOST_TEST(who.does.status().commits < 100u);
  BOOST_TEST(who.does.status().received == 300u);
}

BOOST_AUTO_TEST_CASE(refused_effects_are_those_of_one_message_only) {
  options.window = 64;
  put_all(numbers(1, 40));
  auto& who = consume([](term, message item) -> asio::awaitable<message_outcome> {
    auto effects = effect_of(item);
    if (item.data == "7") effects.set("/missing", "");
    co_return effects;
  });
  BOOST_TEST_REQUIRE(is_done());
  auto expected = numbers(1, 40);
  expected.erase(expected.begin() + 6);
  BOOST_TEST(results() == expected, boost::test_tools::per_element());
  const auto letters = dead_letters(over(zk()));
  BOOST_TEST_REQUIRE(letters.size() == 1u);
  BOOST_TEST(letters[0].data == "7");
  BOOST_TEST(letters[0].reason.starts_with("its effects were refused"), letters[0].reason);
  BOOST_TEST(who.does.status().refused == 3u);
}

BOOST_AUTO_TEST_CASE(effects_that_no_server_would_take_do_not_stop_the_others) {
  options.window = 16;
  put_all(numbers(1, 10));
  consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "4") co_return transaction().create("no path");
    if (item.data == "5") co_return transaction().set("/results", std::string(2'000'000, 'x'));
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == std::vector<std::string>({"1", "2", "3", "6", "7", "8", "9", "10"}),
             boost::test_tools::per_element());
  BOOST_TEST(dead_letters(over(zk())).size() == 2u);
}

BOOST_AUTO_TEST_CASE(by_key_only_the_key_waits_for_a_message_that_is_tried_again) {
  options.order = message_order::by_key;
  options.key = [](const message& item) { return item.data.substr(0, 1); };
  options.window = options.parallel = 8;
  options.retry.first = options.retry.longest = 1h;
  put_all({"a1", "a2", "b1", "a3", "b2"});
  auto& who = consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "a1" && item.attempts == 1) co_return message_outcome::again(100ms, "not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == std::vector<std::string>({"b1", "b2", "a1", "a2", "a3"}), boost::test_tools::per_element());
  BOOST_TEST(who.does.attempts["a1"] == std::vector<std::int32_t>({1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(in_strict_order_all_wait_for_a_message_that_is_tried_again) {
  options.window = 8;
  put_all(numbers(1, 6));
  consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "3" && item.attempts < 3) co_return message_outcome::again("not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == numbers(1, 6), boost::test_tools::per_element());
}

// In strict order a call goes on with the messages behind its own. Those in front of one that takes long do not wait
// for its end.
BOOST_AUTO_TEST_CASE(what_was_processed_is_committed_while_the_next_message_takes_long) {
  options.window = 16;
  put_all(numbers(1, 6));
  hold_point hold(executor());
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "4") co_await hold.pass();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached() && children("/results").size() == 3; }));
  BOOST_TEST(results() == numbers(1, 3), boost::test_tools::per_element());
  hold.open();
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == numbers(1, 6), boost::test_tools::per_element());
  for (const auto& each : numbers(1, 6)) BOOST_TEST(who.does.attempts[each].size() == 1u, each);
}

BOOST_AUTO_TEST_CASE(in_strict_order_never_two_are_processed_whatever_is_refused_meanwhile) {
  options.window = 16;
  put_all(numbers(1, 6));
  int at_work = 0, most_at_work = 0;
  std::deque<hold_point> holds;
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    most_at_work = std::max(most_at_work, ++at_work);
    if (item.data == "3" && holds.empty()) co_await holds.emplace_back(executor()).pass();
    --at_work;
    auto effects = effect_of(item);
    if (item.data == "1") effects.set("/missing", "");
    co_return effects;
  });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().refused == 1; }));
  BOOST_TEST(who.does.attempts["1"].size() == 1u, "it waits for the end of the call that goes on");
  holds.front().open();
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == numbers(2, 6), boost::test_tools::per_element());
  BOOST_TEST(most_at_work == 1);
  BOOST_TEST(dead_letters(over(zk())).size() == 1u);
}

BOOST_AUTO_TEST_CASE(attempts_outlive_the_term) {
  options.retry = {.first = 1h, .longest = 1h, .attempts = 3};
  put("1");
  auto& who =
      consume([](term, message) -> asio::awaitable<message_outcome> { co_return message_outcome::again("no"); });
  for (std::size_t times = 1; times <= 2; ++times) {  // what waits is left to the successor, which tries it at once
    BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().resting == 1; }));
    BOOST_TEST(who.does.attempts["1"].size() == times);
    who.coordinator.resign();
    BOOST_TEST_REQUIRE(run_until([&] { return who.does.ends.size() == times; }));
  }
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(who.does.attempts["1"] == std::vector<std::int32_t>({1, 2, 3}), boost::test_tools::per_element());
  BOOST_TEST(dead_letters(over(zk())).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_message_that_hangs_is_parked) {
  std::deque<hold_point> holds;
  put_all({"hangs", "1"});
  auto& who = consume(
      [&](term, message item) -> asio::awaitable<message_outcome> {
        if (item.data == "hangs") {
          auto& hold = holds.emplace_back(executor());
          co_await hold.pass();
        }
        co_return effect_of(item);
      },
      {.hand_over_deadline = 20s, .stall_limit = 300ms});
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == numbers(1, 1), boost::test_tools::per_element());
  const auto letters = dead_letters(over(zk()));
  BOOST_TEST_REQUIRE(letters.size() == 1u);
  BOOST_TEST(letters[0].reason == "it took longer than career_traits::stall_limit");
  BOOST_TEST(who.does.ends.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_service_that_asks_for_a_pause_gets_it_and_no_attempt_counts) {
  put_all(numbers(1, 2));
  int calls = 0;
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (++calls <= 5) co_return message_outcome::hold_off(5ms, "come back later");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  BOOST_TEST(who.does.attempts["1"] == std::vector<std::int32_t>(6, 1), boost::test_tools::per_element());
  BOOST_TEST(dead_letters(over(zk())).empty());
}

BOOST_AUTO_TEST_CASE(at_most_once_a_message_is_gone_before_it_is_processed) {
  options.delivery = delivery_guarantee::at_most_once;
  options.window = 4;
  put_all(numbers(1, 6));
  bool was_there = false;
  auto& who = consume([&](term present, message item) -> asio::awaitable<message_outcome> {
    auto own = present.get_session();  // its server does not lag behind the removal
    const auto path = "/q/" + item.name;
    auto looked = co_await own.async_exists(path, asio::as_tuple(asio::use_awaitable));
    was_there = was_there || !std::get<0>(looked);
    if (item.data == "2") throw std::runtime_error("lost");
    co_return message_outcome::done();
  });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done == 5; }));
  BOOST_TEST(who.does.status().lost == 1u);
  BOOST_TEST(who.does.attempts.size() == 6u);
  BOOST_TEST(!was_there);
}

BOOST_AUTO_TEST_CASE(at_least_once_has_no_effects_here) {
  options.delivery = delivery_guarantee::at_least_once;
  options.retry.attempts = 1;
  put_all(numbers(1, 2));
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "1") co_return message_outcome::done();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(results().empty());
  BOOST_TEST(dead_letters(over(zk())).size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_run_can_be_made_to_end_at_a_spent_message) {
  options.spent = spent_message::stop_the_run;
  put("1");
  running_consumer who(connect(), options, {},
                       [](term, message) -> asio::awaitable<message_outcome> { throw std::runtime_error("never"); });
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(who.ended.error() == errc::career_failed);
  try {
    std::rethrow_exception(who.coordinator.failure());
  } catch (const std::exception& failure) {
    BOOST_TEST(std::string(failure.what()) == "the attempts at a message of queue /q are used up: never");
  }
  drain();
}

BOOST_AUTO_TEST_CASE(replies_that_are_lost_change_nothing) {
  options.window = 16;
  auto with = far_options();
  put_all(numbers(1, 200));
  for (int k = 1; k <= 6; ++k) own().drop_reply(testcluster::op::multi, 3 * k);
  all.emplace_back(connect(with), options, career_traits(), [](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "50" || item.data == "150") co_return message_outcome::again("no");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_done());
  auto expected = numbers(1, 200);
  std::erase(expected, "50");
  std::erase(expected, "150");
  BOOST_TEST(results() == expected, boost::test_tools::per_element());
  const auto letters = dead_letters(over(zk()));
  BOOST_TEST_REQUIRE(letters.size() == 2u);
  for (const auto& each : letters) BOOST_TEST(each.attempts == 3);
  BOOST_TEST(own().drops() == 6u);
}

BOOST_AUTO_TEST_CASE(the_figures_are_in_the_record_of_the_term) {
  put_all(numbers(1, 3));
  consume(&succeed);
  BOOST_TEST_REQUIRE(is_done());
  BOOST_TEST(run_until([&] { return get("/e").data.find("\"done\":3") != std::string::npos; }), get("/e").data);
}

BOOST_AUTO_TEST_SUITE_END()

// The limit of a consumer over hand-overs between two replicas.

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
