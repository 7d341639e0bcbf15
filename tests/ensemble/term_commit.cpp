// A commit under a term happens once, whatever replies are lost.
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
  auto commit = a.does.terms[0].async_commit(transaction().remove("/y"), recorded());
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

// The end of a term: what the career hears of it, and when.
namespace {

class endings : public term_case {
 public:
  /// True, too, if the connection is dead and nobody knows it yet.
  bool seems_connected(const replica& which) { return which.zk.status().state == session_state::connected; }
  void overwrite_record(const std::string& data) {
    auto written = run(zk().async_set("/e", data, any_version, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(written), std::get<0>(written).message());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(term_ending, endings)

BOOST_AUTO_TEST_CASE(a_dead_connection_does_not_hold_up_the_hand_over) {
  auto& a = add(connect_far());
  wait_executing(a, 1);
  own().freeze(true);
  a.coordinator.stop();
  wait([&] { return !a.does.ends.empty() || !seems_connected(a); });
  BOOST_TEST(seems_connected(a));
  BOOST_TEST(a.does.has("hand_over 1 resigned"));
  BOOST_TEST(a.does.ends == std::vector<std::string>{"1 resigned"});
  own().freeze(false);
  wait_ended(a);
}

BOOST_AUTO_TEST_CASE(a_hand_over_is_cut_at_the_deadline) {
  hold_point leaving(executor());
  auto& a = add(connect_far(), [&](career& does) {
    does.with.hand_over_deadline = 100ms;
    does.on_hand_over = [&](term, term_end) { return leaving.pass(); };
  });
  wait_executing(a, 1);
  own().freeze(true);
  a.coordinator.stop();
  wait([&] { return leaving.was_cut() || !seems_connected(a); });
  BOOST_TEST(leaving.was_cut());
  BOOST_TEST(seems_connected(a));
  own().freeze(false);
  wait_ended(a);
  BOOST_TEST(a.does.ends == std::vector<std::string>{"1 resigned"});
}

BOOST_AUTO_TEST_CASE(who_overran_hears_of_the_end_without_a_hand_over) {
  hold_point stuck(executor());
  auto& a = add([&](career& does) {
    does.with.stall_limit = 300ms;
    does.with.hand_over_deadline = 100ms;
    does.on_execute = [&](term) { return stuck.pass_in_the_end(); };
  });
  wait([&] { return in_line() == 0; });
  BOOST_TEST(a.does.ends.empty(), "the last call comes when nothing else of the term runs");
  stuck.open();
  wait([&] { return a.does.terms.size() == 2; });
  BOOST_TEST(!a.does.has("hand_over 1 stalled"));
  BOOST_TEST(a.does.ends == std::vector<std::string>{"1 stalled"});
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_record_that_was_overwritten_ends_the_term) {
  auto& a = add();
  wait_executing(a, 1);
  overwrite_record("");
  auto refused = run(a.does.terms[0].async_commit(transaction().create("/x"), tuple));
  BOOST_TEST(std::get<0>(refused) == errc::superseded);
  BOOST_TEST(!exists("/x"));
  wait([&] { return a.does.terms.size() == 2; });
  BOOST_TEST(a.does.has("hand_over 1 superseded"));
  BOOST_TEST(a.does.ends == std::vector<std::string>{"1 superseded"});
  BOOST_TEST(a.does.terms[1].how() == takeover::first);
  BOOST_TEST(a.does.terms[1].token() > a.does.terms[0].token());
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_newer_term_leaves_nothing_to_hand_over) {
  auto& a = add();
  wait_executing(a, 1);
  auto newer = get("/e").data;
  newer.replace(newer.find(R"("epoch":1)"), 9, R"("epoch":2)");
  overwrite_record(newer);
  auto refused = run(a.does.terms[0].async_commit(transaction().create("/x"), tuple));
  BOOST_TEST(std::get<0>(refused) == errc::superseded);
  wait([&] { return !a.does.ends.empty(); });
  BOOST_TEST(a.does.ends == std::vector<std::string>{"1 superseded"});
  BOOST_TEST(!a.does.has("hand_over 1 superseded"));
  overwrite_record("");
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

// A career that throws ends its run, and holds nobody up.
namespace {

[[noreturn]] void fail() { throw std::runtime_error("boom"); }

class failures : public term_case {
 public:
  void fails_and_the_next_one_leads(const std::function<void(career&)>& prepare, bool resigns = false) {
    auto& a = add(prepare);
    auto& b = add();
    if (resigns) {
      wait_executing(a, 1);
      a.coordinator.resign();
    }
    wait_ended(a, errc::career_failed);
    BOOST_TEST_REQUIRE((a.coordinator.failure() != nullptr));
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(a.coordinator.failure()), std::runtime_error,
                          [](const std::runtime_error& error) { return error.what() == std::string("boom"); });
    wait_executing(b, 2);
    BOOST_TEST(b.does.terms[0].how() == takeover::clean);
    BOOST_TEST(in_line() == 1u);
    if (!resigns) BOOST_TEST(a.does.has("hand_over 1 failed"));
    stop_all();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(term_failure, failures)

BOOST_AUTO_TEST_CASE(in_its_inauguration) {
  fails_and_the_next_one_leads([](career& does) {
    does.on_inaugurate = [](term) -> asio::awaitable<void> {
      fail();
      co_return;
    };
  });
}

BOOST_AUTO_TEST_CASE(in_its_execution) {
  fails_and_the_next_one_leads([](career& does) {
    does.on_execute = [](term) -> asio::awaitable<void> {
      fail();
      co_return;
    };
  });
}

BOOST_AUTO_TEST_CASE(in_its_hand_over) {
  fails_and_the_next_one_leads(
      [](career& does) {
        does.on_hand_over = [](term, term_end) -> asio::awaitable<void> {
          fail();
          co_return;
        };
      },
      true);
}

BOOST_AUTO_TEST_CASE(of_the_message_in_hand_while_the_term_ends) {
  hold_point message(executor());
  auto& a = add([&](career& does) {
    does.on_execute = [&](term) -> asio::awaitable<void> {
      co_await message.pass();
      fail();
    };
  });
  wait([&] { return message.is_reached(); });
  a.coordinator.stop();
  wait([&] { return a.does.terms[0].ending(); });
  message.open();
  wait_ended(a, errc::career_failed);
  BOOST_TEST((a.coordinator.failure() != nullptr));
  BOOST_TEST(a.does.has("hand_over 1 resigned"));
  BOOST_TEST(record_says(R"("phase":"retired")"), get("/e").data);
}

BOOST_AUTO_TEST_CASE(but_not_by_an_error_that_tells_of_the_end) {
  auto& a = add([&](career& does) {
    does.on_execute = [](term present) -> asio::awaitable<void> {
      co_await present.async_ending(tuple);
      throw boost::system::system_error(errc::session_expired);
    };
  });
  wait_executing(a, 1);
  a.coordinator.stop();
  wait_ended(a);
  BOOST_TEST((a.coordinator.failure() == nullptr));
  BOOST_TEST(a.does.has("hand_over 1 resigned"));
}

BOOST_AUTO_TEST_CASE(in_the_last_call_of_its_term) {
  struct regretful final : leader_career {
    asio::awaitable<void> inaugurate(term) override { co_return; }
    asio::awaitable<void> execute(term present) override { co_await present.async_ending(tuple); }
    asio::awaitable<void> hand_over(term, term_end) override { co_return; }
    asio::awaitable<void> ended(term, term_end) override { fail(); }
  } does;
  consumer_coordinator coordinator(zk(), "/e", {.id = "regretful"});
  auto ended = coordinator.async_run(does, recorded());
  wait([&] { return view().phase == term_phase::executing; });
  coordinator.resign();
  wait([&] { return ended.done(); });
  BOOST_TEST(ended.error() == errc::career_failed);
  BOOST_TEST(in_line() == 0u);
}

BOOST_AUTO_TEST_CASE(before_its_coroutine_begins) {
  struct hasty final : leader_career {
    asio::awaitable<void> inaugurate(term) override { fail(); }
    asio::awaitable<void> execute(term) override { fail(); }
    asio::awaitable<void> hand_over(term, term_end) override { fail(); }
  } does;
  consumer_coordinator coordinator(zk(), "/e", {.id = "hasty"});
  auto ended = run(coordinator.async_run(does, tuple));
  BOOST_TEST(std::get<0>(ended) == errc::career_failed);
  BOOST_TEST((coordinator.failure() != nullptr));
  BOOST_TEST(run_until([&] { return in_line() == 0; }, 10s));
}

BOOST_AUTO_TEST_CASE(it_may_run_again_afterwards) {
  bool broken = true;
  auto& a = add([&](career& does) {
    does.on_execute = [&](term present) -> asio::awaitable<void> {
      if (broken) fail();
      co_await present.async_ending(tuple);
    };
  });
  wait_ended(a, errc::career_failed);
  broken = false;
  a.restart();
  wait_executing(a, 2);
  a.coordinator.resign();
  wait_executing(a, 3);
  BOOST_TEST((a.coordinator.failure() == nullptr));
  stop_all();
  BOOST_TEST(!a.ended.error(), a.ended.error().message());
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused_by_name) {
  using traits = career_traits;
  auto refused = [&](traits with) -> std::string {
    career does(floor);
    does.with = with;
    consumer_coordinator coordinator(zk(), "/e", {.id = "a"});
    try {
      coordinator.async_run(does, [](error_code) {});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  BOOST_TEST(refused({.hand_over_deadline = -1ms}).find("hand_over_deadline") != std::string::npos);
  BOOST_TEST(refused({.aftermath = -1ms}).find("aftermath") != std::string::npos);
  BOOST_TEST(refused({.stall_limit = 61min}).find("stall_limit") != std::string::npos);
  BOOST_CHECK_THROW(consumer_coordinator(zk(), "/e", {.id = ""}), std::invalid_argument);
  BOOST_CHECK_THROW(consumer_coordinator(zk(), "e", {.id = "a"}), std::invalid_argument);
  BOOST_CHECK_THROW(consumer_coordinator(zk(), "/e", {.id = "a", .rest = -1s}), std::invalid_argument);
}

BOOST_AUTO_TEST_SUITE_END()
