// A run that is asked to stop, or whose career throws, ends, at whatever step it is, and leaves no node.
#include "ensemble/replica.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(term_stop, term_case)

BOOST_AUTO_TEST_CASE(while_it_waits_in_line) {
  auto& a = add();
  auto& b = add();
  auto& c = add();
  b.coordinator.stop();
  wait_ended(b);
  wait([&] { return in_line() == 2; });
  BOOST_TEST(b.does.log.empty());
  a.coordinator.stop();
  wait_executing(c, 2);
  stop_all();
}

BOOST_AUTO_TEST_CASE(while_it_inaugurates) {
  hold_point loading(executor());
  auto& a = add([&](career& does) { does.on_inaugurate = [&](term) { return loading.pass(); }; });
  wait([&] { return loading.is_reached(); });
  a.coordinator.stop();
  wait([&] { return view().phase == term_phase::handing_over; });
  loading.open();
  wait_ended(a);
  BOOST_TEST(a.does.has("hand_over 1 resigned"));
  BOOST_TEST(!a.executes(1));
}

BOOST_AUTO_TEST_CASE(while_it_executes) {
  auto& a = add();
  wait_executing(a, 1);
  a.coordinator.stop();
  wait_ended(a);
  BOOST_TEST(a.does.log.back() == "hand_over 1 resigned");
}

BOOST_AUTO_TEST_CASE(while_it_waits_for_a_predecessors_confirmation) {
  hold_point message(executor());
  auto& a = add([&](career& does) { does.on_execute = [&](term) { return message.pass(); }; });
  auto& b = add();
  auto& c = add();
  wait([&] { return message.is_reached(); });
  cluster().expire(a.session_id());
  wait([&] { return view().hand_over && view().hand_over->to == "b"; });
  b.coordinator.stop();
  wait_ended(b);
  BOOST_TEST(b.does.log.empty());
  wait([&] { return view().hand_over && view().hand_over->to == "c"; });
  message.open();
  wait_executing(c, 2);
  BOOST_TEST(c.does.terms[0].how() == takeover::confirmed_late);
  stop_all();
}

BOOST_AUTO_TEST_CASE(while_it_waits_in_line_without_a_connection) {
  auto& a = add();
  auto& b = add(connect_far());
  wait_executing(a, 1);
  disconnect(b.zk);
  b.coordinator.stop();
  wait_ended(b);
  BOOST_TEST(in_line() == 2u);
  reconnect();
  wait([&] { return in_line() == 1; });
  stop_all();
}

BOOST_AUTO_TEST_CASE(while_it_leads_without_a_connection) {
  auto with = far_options();
  with.timeout = 2s;
  auto& a = add(connect_far(with), [](career& does) { does.with.hand_over_deadline = 500ms; });
  wait_executing(a, 1);
  disconnect(a.zk);
  a.coordinator.stop();
  wait_ended(a);
  BOOST_TEST(a.does.has("hand_over 1 resigned"));
  reconnect();
  wait([&] { return in_line() == 0; });
}

BOOST_AUTO_TEST_CASE(before_it_has_ever_been_connected) {
  own().refuse(true);
  auto& a = make(connect(far_options()), [](career&) {});
  a.start();
  a.coordinator.stop();
  wait_ended(a);
  BOOST_TEST(a.does.log.empty());
  reconnect();
  auto connected = run(a.zk.async_connected(tuple));
  BOOST_TEST(!std::get<0>(connected));
  BOOST_TEST(in_line() == 0u);
}

BOOST_AUTO_TEST_CASE(at_any_step_of_its_way) {
  // Each answer moves the run one step on, and each round stops it one step later.
  auto far = connect_far();
  for (std::uint64_t steps = 1; steps <= 12; ++steps) {
    auto& a = make(far, [](career&) {});
    const auto begin = far.counters().answers;
    a.start();
    run_until([&] { return far.counters().answers >= begin + steps || !a.does.log.empty(); });
    a.coordinator.stop();
    wait_ended(a);
    wait([&] { return in_line() == 0; });
    BOOST_TEST((get("/e").data.empty() || record_says(R"("phase":"retired")")), get("/e").data);
    for (auto& each : a.does.terms) {
      BOOST_TEST(a.does.has("hand_over " + std::to_string(each.epoch()) + " resigned"));
    }
  }
}

BOOST_AUTO_TEST_CASE(by_cancellation) {
  for (auto type : {asio::cancellation_type::total, asio::cancellation_type::partial}) {
    hold_point message(executor());
    auto& a = add([&](career& does) { does.on_execute = [&](term) { return message.pass(); }; });
    wait([&] { return message.is_reached(); });
    a.ended.cancel(type);
    wait([&] { return view().phase == term_phase::handing_over; });
    BOOST_TEST(!a.ended.done());
    message.open();
    wait_ended(a);
    BOOST_TEST(!message.was_cut());
  }
}

BOOST_AUTO_TEST_CASE(by_terminal_cancellation_which_cuts_the_message_but_not_the_hand_over) {
  hold_point message(executor());
  bool handed_over = false;
  auto& a = add([&](career& does) {
    does.on_execute = [&](term) { return message.pass(); };
    does.on_hand_over = [&](term, term_end) -> asio::awaitable<void> {
      asio::steady_timer moment(executor(), 20ms);
      co_await moment.async_wait(asio::use_awaitable);
      handed_over = true;
    };
  });
  wait([&] { return message.is_reached(); });
  a.ended.cancel(asio::cancellation_type::terminal);
  wait_ended(a);
  BOOST_TEST(message.was_cut());
  BOOST_TEST(handed_over);
  BOOST_TEST(record_says(R"("phase":"retired")"), get("/e").data);
}

BOOST_AUTO_TEST_CASE(a_stop_holds_for_the_present_run_only) {
  auto& a = make(connect(), [](career&) {});
  a.coordinator.stop();
  settle(a.zk);
  a.start();
  wait_executing(a, 1);
  a.coordinator.stop();
  a.coordinator.stop();
  wait_ended(a);
  a.coordinator.stop();
  settle(a.zk);
  a.restart();
  wait_executing(a, 2);
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_second_run_at_the_same_time_is_refused) {
  auto& a = add();
  wait_executing(a, 1);
  recorder<> second(executor());
  a.coordinator.async_run(a.does, second.token());
  BOOST_TEST_REQUIRE(run_until([&] { return second.done(); }));
  BOOST_TEST(second.error() == errc::busy);
  BOOST_TEST(!a.ended.done());
  stop_all();
}

BOOST_AUTO_TEST_CASE(with_the_coordinator_itself) {
  auto zk_of_a = connect();
  career does(floor);
  recorder<> ended(executor());
  {
    consumer_coordinator coordinator(zk_of_a, "/e", {.id = "a"});
    coordinator.async_run(does, ended.token());
    wait([&] { return does.has("execute 1"); });
  }
  wait([&] { return ended.done(); });
  BOOST_TEST(!ended.error(), ended.error().message());
  BOOST_TEST(does.log.back() == "hand_over 1 resigned");
}

BOOST_AUTO_TEST_CASE(with_its_session) {
  auto& a = add();
  wait_executing(a, 1);
  auto closed = run(a.zk.async_close(tuple));
  BOOST_TEST(!std::get<0>(closed));
  wait_ended(a, errc::closed);
  BOOST_TEST(a.does.has("hand_over 1 lost"));
  BOOST_TEST(in_line() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

// The end of a term: what the career hears of it, and when.

namespace {

class endings : public term_case {
 public:
  /// True, too, if the connection is dead and nobody knows it yet.
  bool seems_connected(const replica& which) { return which.zk.status().state == session_state::connected; }
  void overwrite_record(const std::string& data) { must(run(zk().async_set("/e", data, any_version, tuple))); }
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
  recorder<> ended(executor());
  coordinator.async_run(does, ended.token());
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
