// What counts as a stall, at its exact moment: the time is the test's. With real servers a process that gets no
// processor for as long as a short limit looks as if it stalled.
#include "unit/coordinating.hpp"
#include "unit/delivering.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct stalling : delivering {
  std::string phase() const { return to_string(coordinator->status().phase); }
  std::int64_t epoch() const { return coordinator->status().epoch; }
};

/// Says that it waits until its term is to end.
struct idle_career final : quiet_career {
  career_traits traits() const override { return {.stall_limit = 1s}; }
  asio::awaitable<void> execute(term present) override {
    auto waiting = says_so ? present.idle() : nullptr;
    co_await present.async_ending(tuple);
  }
  asio::awaitable<void> hand_over(term, term_end reason) override {
    ends.push_back(reason);
    co_return;
  }

  bool says_so = true;
  std::vector<term_end> ends;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(stalls, stalling)

BOOST_AUTO_TEST_CASE(a_message_that_takes_too_long_is_one_and_waiting_for_one_is_not) {
  consume({}, 1s);
  for (int i = 0; i < 20; ++i) pass(3s);
  BOOST_TEST(phase() == "executing");
  put({"1"});
  pass(999ms);
  BOOST_TEST(phase() == "executing");
  BOOST_TEST(epoch() == 1);
  consumer->is_held = false;  // from the next call on
  pass(1ms);
  BOOST_TEST(consumer->calls["1"]->hold.was_cut());
  BOOST_TEST_REQUIRE(consumer->ends.size() == 1u);
  BOOST_TEST((consumer->ends[0] == term_end::stalled));
  pass(3s);  // the pause before the next attempt
  CHECK_LIST(results, "1");
  BOOST_TEST(epoch() == 2);
  for (int i = 0; i < 20; ++i) pass(3s);
  BOOST_TEST(consumer->ends.size() == 1u);
  BOOST_TEST(letters().empty());
}

BOOST_AUTO_TEST_CASE(a_career_that_says_that_it_waits_is_none_and_one_that_does_not_is_one) {
  for (const bool says_so : {true, false}) {
    idle_career does;
    does.says_so = says_so;
    consumer_coordinator alone(zk, "/e", {.id = "me"});
    auto ended = alone.async_run(does, recorded());
    serve_all();
    pass(999ms);
    BOOST_TEST(does.ends.empty());
    pass(1ms);
    BOOST_TEST(does.ends.size() == (says_so ? 0u : 1u));
    for (int i = 0; i < 20 && says_so; ++i) pass(3s);
    alone.stop();
    serve_all();
    BOOST_TEST_REQUIRE(ended.done());
    BOOST_TEST_REQUIRE(!does.ends.empty());
    BOOST_TEST((does.ends[0] == (says_so ? term_end::resigned : term_end::stalled)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
