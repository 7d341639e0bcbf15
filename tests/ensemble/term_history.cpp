// The record tells the terms before: who led, when, and how each ended.
#include "election/term_record.hpp"
#include "ensemble/replica.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class history_case : public term_case {
 public:
  std::string node_of(const replica& who) {
    for (const auto& each : view().candidates) {
      if (each.session_id == who.session_id()) return "/e/" + each.node;
    }
    return {};
  }
  /// As a guardian does.
  void declare_dead(const replica& who) {
    const auto record = get("/e");
    const auto dead = detail::record_of_death(record.data);
    BOOST_TEST_REQUIRE(dead.has_value(), record.data);
    transaction all;
    all.set("/e", *dead, record.stat.version).set("/e", *dead, record.stat.version + 1).remove(node_of(who));
    auto done = run(zk().async_commit(all, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(done), std::get<0>(done).message());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(term_history, history_case)

BOOST_AUTO_TEST_CASE(real_hand_overs_are_told_in_order) {
  const auto far = connect_far();
  auto& a = add();
  auto& b = add(far, [](career& does) { does.with.hand_over_deadline = 300ms; });
  auto& c = add();
  auto& d = add();
  wait_executing(a, 1);
  BOOST_TEST(view().history.empty());
  a.coordinator.resign();
  wait_executing(b, 2);
  wait_in_line(a);
  const auto place = node_of(b);
  disconnect(far);  // it can not confirm
  remove(place);
  wait_executing(c, 3);
  declare_dead(c);
  wait_executing(d, 4);
  wait([&] { return view().phase == term_phase::executing; });

  const auto seen = view();
  BOOST_TEST_REQUIRE(seen.history.size() == 3u);
  const std::vector<term_outcome> outcomes{term_outcome::retired, term_outcome::forced, term_outcome::died};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const auto& each = seen.history[i];
    BOOST_TEST_CONTEXT(get("/e").data) {
      BOOST_TEST(each.epoch == static_cast<std::int64_t>(i) + 1);
      BOOST_TEST(each.leader == std::string(1, static_cast<char>('a' + i)));
      BOOST_TEST((each.outcome == outcomes[i]), to_string(each.outcome));
      BOOST_TEST_REQUIRE(each.began.has_value());
      BOOST_TEST_REQUIRE(each.ended.has_value());
      BOOST_TEST((*each.began <= *each.ended));
      const auto next_began = i + 1 < outcomes.size() ? seen.history[i + 1].began : seen.began;
      BOOST_TEST_REQUIRE(next_began.has_value());
      BOOST_TEST((*each.ended <= *next_began));
    }
  }
  BOOST_TEST(seen.epoch == 4);
  BOOST_TEST((*seen.began <= seen.since));
  reconnect();
  stop_all();
}

BOOST_AUTO_TEST_CASE(no_more_than_eight_are_kept) {
  auto& a = add();
  for (std::int64_t epoch = 1; epoch < 12; ++epoch) {
    wait_executing(a, epoch);
    a.coordinator.resign();
  }
  wait_executing(a, 12);
  const auto history = view().history;
  BOOST_TEST_REQUIRE(history.size() == detail::most_ended_terms);
  BOOST_TEST(history.front().epoch == 4);
  BOOST_TEST(history.back().epoch == 11);
  BOOST_TEST(get("/e").data.size() < 2048u);
  stop_all();
}

BOOST_AUTO_TEST_CASE(an_older_version_in_between_leaves_a_gap) {
  create("/e/_c_x-latch-0000000001");
  // It carries fields along that it does not know.
  run(zk().async_set("/e",
                     R"({"zkrecipes":"term","epoch":5,"phase":"retired","how":"clean","hand_over_deadline_ms":0,)"
                     R"("leader":{"id":"old","node":"_c_x-latch-0000000001","token":1},"history":["3 5 6 retired x"]})",
                     any_version, tuple));
  remove("/e/_c_x-latch-0000000001");
  auto& a = add();
  wait_executing(a, 6);
  const auto history = view().history;
  BOOST_TEST_REQUIRE(history.size() == 2u);
  BOOST_TEST(history[0].epoch == 3);
  BOOST_TEST(history[1].epoch == 5);
  BOOST_TEST(history[1].leader == "old");
  BOOST_TEST(!history[1].began.has_value());
  BOOST_TEST(history[1].ended.has_value());
  stop_all();
}

BOOST_AUTO_TEST_SUITE_END()
