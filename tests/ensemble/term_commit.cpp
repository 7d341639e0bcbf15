// A commit under a term happens once, whatever replies are lost.
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
