// Each end of a term finds one message in work, one finished, and one that rests: docs/hand-over.md, "the messages in
// hand".
#include <optional>

#include "ensemble/delivery_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using ending = std::function<asio::awaitable<void>()>;

class endings : public deliveries {
 public:
  endings() {
    hold.emplace(executor());
    options.order = message_order::none;
    options.window = options.parallel = 8;
    options.retry = {.first = 1h, .longest = 1h, .attempts = 3};
  }

  void teardown() {
    hold->open();
    end_runs(all);
    hold.reset();
    deliveries::teardown();
  }

  /// `end` is called with one message in work and one at rest, by the call of `process` that finishes the third.
  running_consumer& begin(career_traits traits, ending end) {
    end_ = std::move(end);
    put_all({"rests", "works"});
    auto& who = consume([this](term, message item) { return process(std::move(item)); }, traits);
    BOOST_TEST_REQUIRE(run_until([&] { return hold->is_reached() && who.does.status().resting == 1; }));
    put("finishes");
    return who;
  }
  running_consumer& begin(ending end) { return begin({.hand_over_deadline = 20s}, std::move(end)); }

  std::vector<std::string> sorted_results() {
    auto all = results();
    std::sort(all.begin(), all.end());
    return all;
  }
  void wait_result(const std::string& data) {
    BOOST_TEST_REQUIRE(run_until([&] {
      const auto all = results();
      return std::find(all.begin(), all.end(), data) != all.end();
    }));
  }
  void wait_ends(const running_consumer& who, std::size_t count = 1) {
    BOOST_TEST_REQUIRE(run_until([&] { return who.does.ends.size() == count; }));
  }
  /// All messages are done, each once in effect, and these attempts were told.
  void expect(running_consumer& who, const std::vector<std::int32_t>& works, const std::vector<std::int32_t>& finishes,
              const std::vector<std::int32_t>& rests) {
    BOOST_TEST_REQUIRE(is_done());
    BOOST_TEST(sorted_results() == std::vector<std::string>({"finishes", "rests", "works"}),
               boost::test_tools::per_element());
    BOOST_TEST(who.does.attempts["works"] == works, boost::test_tools::per_element());
    BOOST_TEST(who.does.attempts["finishes"] == finishes, boost::test_tools::per_element());
    BOOST_TEST(who.does.attempts["rests"] == rests, boost::test_tools::per_element());
  }

  std::optional<hold_point> hold;

 private:
  asio::awaitable<message_outcome> process(message item) {
    const bool is_first = begun_[item.data]++ == 0;
    if (is_first && item.data == "rests") co_return message_outcome::again("no");
    if (is_first && item.data == "works") co_await hold->pass();
    if (is_first && item.data == "finishes") co_await end_();
    co_return effect_of(item);
  }

  ending end_;
  std::map<std::string, int> begun_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_endings, endings)

BOOST_AUTO_TEST_CASE(who_resigns_finishes_what_is_in_hand) {
  auto& who = begin([this]() -> asio::awaitable<void> {
    all[0].coordinator.resign();
    co_return;
  });
  wait_result("finishes");
  BOOST_TEST(results().size() == 1u);
  BOOST_TEST(who.does.ends.empty());
  hold->open();
  expect(who, {1}, {1}, {1, 2});
  BOOST_TEST((who.does.ends[0] == term_end::resigned));
}

BOOST_AUTO_TEST_CASE(a_call_is_cut_and_made_again_if_the_career_wants_that) {
  auto& who = begin({.hand_over_deadline = 20s, .finish_message_in_hand = false}, [this]() -> asio::awaitable<void> {
    all[0].coordinator.resign();
    co_return;
  });
  expect(who, {1, 1}, {1}, {1, 2});
  BOOST_TEST(hold->was_cut());
}

BOOST_AUTO_TEST_CASE(a_stop_that_is_cut_short_leaves_the_calls_to_the_successor) {
  auto& who = begin([this]() -> asio::awaitable<void> {
    all[0].ended.cancel(asio::cancellation_type::terminal);
    co_return;
  });
  BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
  BOOST_TEST(hold->was_cut());
  BOOST_TEST(results() == std::vector<std::string>({"finishes"}), boost::test_tools::per_element());
  auto& next = consume([](term, message item) -> asio::awaitable<message_outcome> { co_return effect_of(item); });
  expect(next, {1}, {}, {2});
}

BOOST_AUTO_TEST_CASE(who_has_lost_its_place_still_finishes_what_is_in_hand) {
  auto& who = begin([this]() -> asio::awaitable<void> {
    auto line = co_await zk().async_children("/e", asio::use_awaitable);
    const auto node = "/e/" + line.names.at(0);
    co_await zk().async_remove(node, any_version, asio::use_awaitable);
  });
  wait_result("finishes");
  hold->open();
  expect(who, {1}, {1}, {1, 2});
  BOOST_TEST((who.does.ends[0] == term_end::lost));
}

BOOST_AUTO_TEST_CASE(who_has_lost_its_session_finishes_what_is_in_hand_in_the_next_one) {
  auto& who = begin([this]() -> asio::awaitable<void> {
    cluster().expire(all[0].zk.status().session_id);
    co_return;
  });
  wait_result("finishes");
  hold->open();
  expect(who, {1}, {1}, {1, 2});
  BOOST_TEST((who.does.ends[0] == term_end::lost));
}

BOOST_AUTO_TEST_CASE(a_stall_counts_an_attempt_of_the_message_that_hangs) {
  auto& who = begin({.hand_over_deadline = 20s, .stall_limit = 500ms}, []() -> asio::awaitable<void> { co_return; });
  expect(who, {1, 2}, {1}, {1, 2});
  BOOST_TEST(hold->was_cut());
  BOOST_TEST((who.does.ends[0] == term_end::stalled));
}

BOOST_AUTO_TEST_CASE(nothing_is_committed_beside_a_newer_term) {
  auto& who = begin([this]() -> asio::awaitable<void> {
    auto record = co_await zk().async_get("/e", asio::use_awaitable);
    auto newer = record.data;
    newer.replace(newer.find(R"("epoch":1)"), 9, R"("epoch":2)");
    co_await zk().async_set("/e", newer, any_version, asio::use_awaitable);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().commits > 0 && hold->was_cut(); }));
  BOOST_TEST(results().empty());
  wait_ends(who);
  BOOST_TEST((who.does.ends[0] == term_end::superseded));
  run(zk().async_set("/e", "", any_version, tuple));  // the newer term, which nobody leads, is over
  expect(who, {1, 1}, {1, 1}, {1, 2});
}

BOOST_AUTO_TEST_SUITE_END()
