// A run that is asked to stop ends, at whatever step it is, and leaves no node.
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
