// A commit under a term happens once, whatever replies are lost; the history of terms.
#include "election/term_record.hpp"
#include "ensemble/replica.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(term_commit, term_case)

BOOST_AUTO_TEST_CASE(a_lost_reply_is_settled) {
  auto& a = add(connect_far());
  wait_executing(a, 1);
  for (bool executed : {true, false}) {
    create("/job");
    create("/done");
    executed ? own().drop_reply(testcluster::op::multi) : own().drop_request(testcluster::op::multi);
    auto effects = transaction().remove("/job").create("/done/r-", "1", create_mode::persistent_sequential);
    auto result = run(a.does.terms[0].async_commit(std::move(effects), tuple));
    BOOST_TEST(!std::get<0>(result), std::get<0>(result).message());
    const auto effects_seen = children("/done");
    BOOST_TEST(effects_seen.size() == 1u);
    for (const auto& each : effects_seen) remove("/done/" + each);
    remove("/done");
  }
  BOOST_TEST(own().drops() == 2u);
  stop_all();
}

BOOST_AUTO_TEST_CASE(an_operation_that_fails_by_itself_is_reported) {
  auto& a = add(connect_far());
  wait_executing(a, 1);
  create("/x");
  auto exists = run(a.does.terms[0].async_commit(transaction().create("/x"), tuple));
  BOOST_TEST(std::get<0>(exists) == errc::node_exists);
  auto gone = run(a.does.terms[0].async_commit(transaction().remove("/y"), tuple));
  BOOST_TEST(std::get<0>(gone) == errc::no_node);
  auto version = run(a.does.terms[0].async_commit(transaction().set("/x", "", 7), tuple));
  BOOST_TEST(std::get<0>(version) == errc::bad_version);
  BOOST_TEST(!a.does.terms[0].ending());
  remove("/x");
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_commit_without_a_connection_waits_and_reports_what_is_true) {
  auto& a = add(connect_far());
  wait_executing(a, 1);
  disconnect(a.zk);
  recorder<> commit(executor());
  a.does.terms[0].async_commit(transaction().remove("/y"), commit.token());
  reconnect();
  wait([&] { return commit.done(); });
  BOOST_TEST(commit.error() == errc::no_node, "it was never sent before, so it can not have happened");
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_commit_goes_on_while_the_record_moves_to_its_next_phase) {
  error_code committed = errc::timed_out;
  hold_point message(executor());
  auto& a = add([&](career& does) {
    does.on_execute = [&](term present) -> asio::awaitable<void> {
      co_await message.pass();
      auto result = co_await present.async_commit(transaction().create("/x"), tuple);
      committed = std::get<0>(result);
    };
  });
  wait([&] { return message.is_reached(); });
  a.coordinator.stop();
  wait([&] { return view().phase == term_phase::handing_over; });
  message.open();
  wait_ended(a);
  BOOST_TEST(!committed, committed.message());
  remove("/x");
}

BOOST_AUTO_TEST_CASE(a_term_begins_and_ends_though_every_reply_to_its_record_is_lost) {
  // There is one transaction for each phase: inaugurating, executing, handing over, retired.
  for (int k = 1; k <= 4; ++k) {
    auto far = connect_far();
    own().drop_reply(testcluster::op::multi, k);
    auto& a = add(far);
    wait_executing(a, k);
    a.coordinator.stop();
    wait_ended(a);
    BOOST_TEST(own().drops() == static_cast<std::size_t>(k));
    BOOST_TEST(a.does.has("hand_over " + std::to_string(k) + " resigned"));
    BOOST_TEST(a.does.terms[0].how() == (k == 1 ? takeover::first : takeover::clean));
    BOOST_TEST(record_says(R"("phase":"retired")"), get("/e").data);
    BOOST_TEST(get("/e").stat.version == 4 * k, "each phase was written once");
  }
  stop_all();
}

// If the request that writes `handing_over` is lost, there may be only three writes: once the hand-over is done, only
// `retired` is written.
BOOST_AUTO_TEST_CASE(or_if_every_request_is) {
  for (int k = 1; k <= 4; ++k) {
    auto far = connect_far();
    const auto before = get("/e").stat.version;
    own().drop_request(testcluster::op::multi, k);
    auto& a = add(far);
    wait_executing(a, k);
    a.coordinator.stop();
    wait_ended(a);
    BOOST_TEST(own().drops() == static_cast<std::size_t>(k));
    BOOST_TEST(record_says(R"("phase":"retired")"), get("/e").data);
    const auto written = get("/e").stat.version - before;
    BOOST_TEST((written == 4 || (k == 3 && written == 3)), written << " times");
  }
  stop_all();
}

// The first try never arrived, and the second one is refused for a reason of its own. This refusal must not be taken
// for the success of the first try.
BOOST_AUTO_TEST_CASE(a_refusal_after_a_lost_request_is_no_success) {
  auto& a = add(connect_far());
  wait_executing(a, 1);
  auto& present = a.does.terms[0];
  create("/x", "theirs");
  create("/job");
  own().drop_request(testcluster::op::multi);
  auto refused = run(present.async_commit(transaction().remove("/job").create("/x", "ours"), tuple));
  BOOST_TEST(std::get<0>(refused) == errc::node_exists);
  BOOST_TEST(exists("/job"));
  own().drop_request(testcluster::op::multi);
  auto half = run(present.async_commit(transaction().remove("/gone").create("/y", "ours"), tuple));
  BOOST_TEST(std::get<0>(half) == errc::outcome_unknown,
             "somebody has removed the one, and may have removed the other");
  BOOST_TEST(!exists("/y"));
  BOOST_TEST(own().drops() == 2u);
  BOOST_TEST(!present.ending());
  remove("/x");
  remove("/job");
  stop_all();
}

BOOST_AUTO_TEST_SUITE_END()

// The record tells the terms before: who led, when, and how each ended.

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
    must(run(zk().async_commit(all, tuple)));
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
