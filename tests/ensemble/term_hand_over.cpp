// How a term ends while its leader can still write.
#include "ensemble/replica.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(term_hand_over, term_case)

BOOST_AUTO_TEST_CASE(the_message_in_hand_is_finished_first) {
  hold_point message(executor());
  auto& a = add([&](career& does) { does.on_execute = [&](term) { return message.pass(); }; });
  auto& b = add();
  wait([&] { return message.is_reached(); });
  a.coordinator.resign();
  wait([&] { return view().phase == term_phase::handing_over; });
  BOOST_TEST(a.does.terms[0].ending());
  const auto seen = view();
  BOOST_TEST_REQUIRE(seen.hand_over.has_value());
  BOOST_TEST(seen.hand_over->from == "a");
  BOOST_TEST(seen.hand_over->to == "b");
  BOOST_TEST(seen.hand_over->state == "finishing");
  BOOST_TEST((seen.hand_over->deadline == 20s));
  settle(b.zk);
  BOOST_TEST(!a.does.has("hand_over 1 resigned"));
  BOOST_TEST(b.does.log.empty());
  message.open();
  wait_executing(b, 2);
  BOOST_TEST(!message.was_cut());
  BOOST_TEST(a.does.has("hand_over 1 resigned"));
  BOOST_TEST(b.does.terms[0].how() == takeover::clean);
  BOOST_TEST(floor.most == 1);
  stop_all();
}

BOOST_AUTO_TEST_CASE(or_it_is_cut_short_if_the_career_wants_that) {
  hold_point message(executor());
  auto& a = add([&](career& does) {
    does.with.finish_message_in_hand = false;
    does.on_execute = [&](term) { return message.pass(); };
  });
  auto& b = add();
  wait([&] { return message.is_reached(); });
  a.coordinator.resign();
  wait_executing(b, 2);
  BOOST_TEST(message.was_cut());
  BOOST_TEST(a.does.has("hand_over 1 resigned"));
  BOOST_TEST(b.does.terms[0].how() == takeover::clean);
  stop_all();
}

BOOST_AUTO_TEST_CASE(the_successor_waits_for_the_end_of_the_hand_over) {
  hold_point leaving(executor());
  auto& a = add([&](career& does) { does.on_hand_over = [&](term, term_end) { return leaving.pass(); }; });
  auto& b = add();
  wait_executing(a, 1);
  a.coordinator.resign();
  wait([&] { return leaving.is_reached(); });
  settle(b.zk);
  BOOST_TEST(b.does.log.empty());
  BOOST_TEST(in_line() == 2u);
  leaving.open();
  wait_executing(b, 2);
  stop_all();
}

BOOST_AUTO_TEST_CASE(who_stalls_is_relieved_and_does_not_come_back_before_it_has_ended) {
  hold_point stuck(executor());
  auto& a = add([&](career& does) {
    does.with.stall_limit = 300ms;
    does.with.hand_over_deadline = 300ms;
    does.on_execute = [&](term) { return stuck.pass_in_the_end(); };
  });
  wait([&] { return in_line() == 0; });
  BOOST_TEST(record_says(R"("phase":"stalled")"), get("/e").data);
  BOOST_TEST(view().phase == term_phase::stalled);
  BOOST_TEST(!a.does.has("hand_over 1 stalled"), "it never came to that");
  auto& b = add();
  wait_executing(b, 2);
  BOOST_TEST(b.does.terms[0].how() == takeover::forced);
  settle(a.zk);
  BOOST_TEST(in_line() == 1u);
  BOOST_TEST(floor.most == 2, "that is what a fence is for");
  auto late = run(a.does.terms[0].async_commit(transaction().create("/x"), tuple));
  BOOST_TEST(std::get<0>(late) == errc::superseded);
  stuck.open();
  wait([&] { return in_line() == 2; });
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_stalled_leader_with_somebody_behind_it) {
  hold_point stuck(executor());
  auto& a = add([&](career& does) {
    does.with.stall_limit = 300ms;
    does.with.hand_over_deadline = 100ms;
    does.on_execute = [&](term) { return stuck.pass_in_the_end(); };
  });
  auto& b = add();
  wait_executing(b, 2);
  BOOST_TEST(b.does.terms[0].how() == takeover::forced);
  BOOST_TEST(a.does.terms[0].ending());
  stuck.open();
  wait([&] { return in_line() == 2; });
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_stalled_message_that_can_be_cut_is_handed_over) {
  hold_point slow(executor());
  auto& a = add([&](career& does) {
    does.with.stall_limit = 300ms;
    does.on_execute = [&](term) { return slow.pass(); };
  });
  auto& b = add();
  wait_executing(b, 2);
  BOOST_TEST(slow.was_cut());
  BOOST_TEST(a.does.has("hand_over 1 stalled"));
  BOOST_TEST(b.does.terms[0].how() == takeover::clean);
  BOOST_TEST(!a.ended.done());
  slow.open();
  stop_all();
}

BOOST_AUTO_TEST_CASE(an_inauguration_that_hangs_is_cut_and_the_next_in_line_leads) {
  hold_point hung(executor());
  auto& a = add([&](career& does) {
    does.with.stall_limit = 300ms;
    does.on_inaugurate = [&](term) { return hung.pass(); };
  });
  auto& b = add();
  wait_executing(b, 2);
  BOOST_TEST(hung.was_cut());
  BOOST_TEST(!a.ended.done(), "it stands in line again");
  hung.open();
  stop_all();
}

BOOST_AUTO_TEST_CASE(an_end_that_hangs_is_cut_and_holds_up_nobody) {
  hold_point hung(executor());
  auto& a = add([&](career& does) {
    does.with.stall_limit = 300ms;
    does.on_ended = [&](term, term_end) { return hung.pass(); };
  });
  auto& b = add();
  wait_executing(a, 1);
  a.coordinator.resign();
  wait_executing(b, 2);
  wait([&] { return hung.was_cut(); });
  wait([&] { return in_line() == 2; });
  hung.open();
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_career_that_declares_no_deadline_ends_in_order_all_the_same) {
  hold_point message(executor());
  auto& a = add([&](career& does) {
    does.with.hand_over_deadline = 0s;
    does.on_execute = [&](term) { return message.pass(); };
  });
  auto& b = add();
  wait([&] { return message.is_reached(); });
  a.coordinator.resign();
  wait([&] { return view().phase == term_phase::handing_over; });
  message.open();
  wait_executing(b, 2);
  BOOST_TEST(b.does.terms[0].how() == takeover::clean);
  BOOST_TEST(a.does.has("hand_over 1 resigned"));
  stop_all();
}

BOOST_AUTO_TEST_CASE(an_inauguration_that_is_going_on_is_finished_first) {
  hold_point loading(executor());
  auto& a = add([&](career& does) { does.on_inaugurate = [&](term) { return loading.pass(); }; });
  auto& b = add();
  wait([&] { return loading.is_reached(); });
  BOOST_TEST(view().phase == term_phase::inaugurating);
  a.coordinator.resign();
  wait([&] { return view().phase == term_phase::handing_over; });
  BOOST_TEST(b.does.log.empty());
  loading.open();
  wait_executing(b, 2);
  BOOST_TEST(!a.executes(1));
  BOOST_TEST(a.does.has("hand_over 1 resigned"));
  stop_all();
}

BOOST_AUTO_TEST_SUITE_END()

// A run that is asked to stop ends, at whatever step it is, and leaves no node.
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
  auto second = a.coordinator.async_run(a.does, recorded());
  BOOST_TEST_REQUIRE(ends_with(second, errc::busy));
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

// Only one of several coordinators works at a time, and terms follow each other in order.
BOOST_FIXTURE_TEST_SUITE(term_take_over, term_case)

BOOST_AUTO_TEST_CASE(of_three_one_works_and_the_next_in_order_takes_over) {
  auto& a = add();
  auto& b = add();
  auto& c = add();
  wait_executing(a, 1);
  a.coordinator.resign();
  wait_executing(b, 2);
  wait_in_line(a);
  b.coordinator.resign();
  wait_executing(c, 3);
  c.coordinator.resign();
  wait_executing(a, 4);
  stop_all();

  const std::vector<std::string> log_of_a{"inaugurate 1", "execute 1", "hand_over 1 resigned",
                                          "inaugurate 4", "execute 4", "hand_over 4 resigned"};
  const std::vector<std::string> log_of_b{"inaugurate 2", "execute 2", "hand_over 2 resigned"};
  BOOST_TEST(a.does.log == log_of_a, boost::test_tools::per_element());
  BOOST_TEST(b.does.log == log_of_b, boost::test_tools::per_element());
  BOOST_TEST(a.does.terms[0].how() == takeover::first);
  BOOST_TEST(b.does.terms[0].how() == takeover::clean);
  BOOST_TEST(a.does.terms[1].how() == takeover::clean);
  BOOST_TEST(a.does.terms[0].token() < b.does.terms[0].token());
  BOOST_TEST(b.does.terms[0].token() < c.does.terms[0].token());
  BOOST_TEST(c.does.terms[0].token() < a.does.terms[1].token());
  BOOST_TEST(floor.most == 1);
}

BOOST_AUTO_TEST_CASE(a_term_is_seen_from_outside) {
  auto& a = add();
  auto& b = add();
  wait([&] { return view().phase == term_phase::executing; });
  const auto seen = view();
  BOOST_TEST(seen.leader == "a");
  BOOST_TEST(seen.epoch == 1);
  BOOST_TEST(seen.leader_token == a.does.terms[0].token());
  BOOST_TEST((seen.how == takeover::first));
  BOOST_TEST_REQUIRE(seen.candidates.size() == 2u);
  BOOST_TEST(seen.candidates[1].id == "b");
  BOOST_TEST(seen.candidates[1].session_id == b.session_id());
  BOOST_TEST(!seen.hand_over.has_value());
  BOOST_TEST((a.does.terms[0].valid_until() > lease_clock::now()));
  stop_all();
}

BOOST_AUTO_TEST_CASE(the_record_retires_with_the_node_of_its_leader_in_one_transaction) {
  auto& a = add();
  wait_executing(a, 1);
  a.coordinator.stop();
  wait_ended(a);
  const auto record = get("/e");
  BOOST_TEST(record.data.find(R"("phase":"retired")") != std::string::npos, record.data);
  BOOST_TEST(record.stat.mzxid == record.stat.pzxid);
  BOOST_TEST(record.stat.num_children == 0);
  BOOST_TEST(view().phase == term_phase::retired);
  BOOST_TEST(view().leader.empty());
  BOOST_TEST(view().epoch == 1);
}

BOOST_AUTO_TEST_CASE(a_leader_of_the_past_can_not_write) {
  auto& a = add();
  auto& b = add();
  wait_executing(a, 1);
  const auto past = a.does.terms[0];
  const auto fenced = past.fenced(transaction().create("/x"));
  a.coordinator.resign();
  wait_executing(b, 2);
  auto late = run(a.zk.async_commit(fenced, tuple));
  BOOST_TEST(std::get<0>(late) == errc::bad_version);
  auto again = run(a.zk.async_commit(past.fenced(transaction().create("/x")), tuple));
  BOOST_TEST(std::get<0>(again) == errc::bad_version);
  auto settled = run(term(past).async_commit(transaction().create("/x"), tuple));
  BOOST_TEST(std::get<0>(settled) == errc::superseded);
  auto present = run(b.does.terms[0].async_commit(transaction().create("/x"), tuple));
  BOOST_TEST(!std::get<0>(present), std::get<0>(present).message());
  remove("/x");
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_leader_may_rest_before_it_campaigns_again) {
  auto& a = add();
  wait_executing(a, 1);
  a.coordinator.resign();
  wait_executing(a, 2);
  BOOST_TEST(a.does.terms[1].how() == takeover::clean, "alone it simply comes back");
  stop_all();
}

BOOST_AUTO_TEST_CASE(foreign_data_is_left_alone) {
  run(zk().async_set("/e", "precious", any_version, tuple));
  auto& a = make(connect(), [](career&) {});
  a.start();
  wait_ended(a, errc::foreign_data);
  BOOST_TEST(get("/e").data == "precious");
  BOOST_TEST(a.does.log.empty());
  BOOST_TEST(run_until([&] { return in_line() == 0; }, 10s));
}

BOOST_AUTO_TEST_CASE(an_operator_asks_the_leader_to_resign) {
  auto& a = add();
  auto& b = add();
  wait_executing(a, 1);
  auto asked = run(observer().async_request_resignation(tuple));
  BOOST_TEST(!std::get<0>(asked), std::get<0>(asked).message());
  wait_executing(b, 2);
  BOOST_TEST(a.does.has("hand_over 1 revoked"));
  BOOST_TEST(b.does.terms[0].how() == takeover::clean);
  wait([&] { return in_line() == 2; });
  stop_all();
}

BOOST_AUTO_TEST_CASE(it_leads_behind_a_foreign_leader_when_that_one_has_gone) {
  auto made = run(zk().async_create("/e/_c_3a0f6f0e-5d55-4c0b-9a7c-2f1f7c1b6a11-latch-", "curator",
                                    create_mode::ephemeral_sequential, tuple));
  auto& a = add();
  settle(a.zk);
  BOOST_TEST(a.does.log.empty());
  BOOST_TEST(view().leader == "curator");
  BOOST_TEST(view().phase == term_phase::none);
  remove(std::get<1>(made).path);
  wait_executing(a, 1);
  stop_all();
}

BOOST_AUTO_TEST_CASE(an_election_that_is_wiped_out_begins_anew) {
  auto& a = add();
  wait_executing(a, 1);
  const auto token = a.does.terms[0].token();
  const auto node = view().candidates[0].node;
  auto wiped = run(zk().async_commit(transaction().remove("/e/" + node).remove("/e"), tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(wiped), std::get<0>(wiped).message());
  wait([&] { return a.does.terms.size() == 2 && a.does.log.back() == "execute 1"; });
  BOOST_TEST(a.does.has("hand_over 1 lost"));
  BOOST_TEST(a.does.terms[1].how() == takeover::first);
  BOOST_TEST(a.does.terms[1].token() > token);
  stop_all();
}

BOOST_AUTO_TEST_SUITE_END()
