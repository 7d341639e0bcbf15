// How a term ends: while its leader can still write, and after it has lost its place; several coordinators.
#include "ensemble/replica.hpp"
#include "ensemble/request_log.hpp"

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
  must(run(zk().async_commit(transaction().remove("/e/" + node).remove("/e"), tuple)));
  wait([&] { return a.does.terms.size() == 2 && a.does.log.back() == "execute 1"; });
  BOOST_TEST(a.does.has("hand_over 1 lost"));
  BOOST_TEST(a.does.terms[1].how() == takeover::first);
  BOOST_TEST(a.does.terms[1].token() > token);
  stop_all();
}

BOOST_AUTO_TEST_SUITE_END()

// The end of a term whose leader lost its place: the message in hand, and how long the successor waits.

BOOST_FIXTURE_TEST_SUITE(term_lost, term_case)

BOOST_AUTO_TEST_CASE(the_successor_waits_for_the_confirmation_of_an_expired_leader) {
  hold_point message(executor());
  error_code committed = errc::timed_out;
  auto& a = add([&](career& does) {
    does.on_execute = [&](term present) -> asio::awaitable<void> {
      co_await message.pass();
      auto result = co_await present.async_commit(
          transaction().create("/x", "effect of " + std::to_string(present.epoch())), tuple);
      committed = std::get<0>(result);
    };
  });
  auto& b = add();
  wait([&] { return message.is_reached(); });
  cluster().expire(a.session_id());
  wait([&] { return a.does.terms[0].ending(); });
  wait([&] {
    const auto seen = view();
    return seen.hand_over && seen.hand_over->state == "awaiting" && seen.candidates[0].id == "b";
  });
  BOOST_TEST(view().hand_over->from == "a");
  BOOST_TEST(view().hand_over->to == "b");
  BOOST_TEST(view().leader.empty());
  BOOST_TEST(b.does.log.empty());
  message.open();
  wait_executing(b, 2);
  BOOST_TEST(b.does.terms[0].how() == takeover::confirmed_late);
  BOOST_TEST(!committed, committed.message());
  BOOST_TEST(a.does.has("hand_over 1 lost"));
  BOOST_TEST(get("/x").data == "effect of 1");
  BOOST_TEST(get("/x").stat.version == 0);
  BOOST_TEST(floor.most == 1);
  remove("/x");
  wait([&] { return in_line() == 2; });
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_frozen_leader_is_overtaken_after_its_deadline) {
  auto with = far_options();
  with.timeout = 2s;
  auto& a = add(connect_far(with), [](career& does) { does.with.hand_over_deadline = 300ms; });
  auto& b = add();
  wait_executing(a, 1);
  own().freeze(true);
  wait_executing(b, 2);
  BOOST_TEST(b.does.terms[0].how() == takeover::forced);
  BOOST_TEST(a.does.has("hand_over 1 lost"), "it knew in time that it was over");
  BOOST_TEST(floor.most == 1);
  recorder<> commit(executor());
  a.does.terms[0].async_commit(transaction().create("/x"), commit.token());
  own().freeze(false);
  wait([&] { return commit.done(); });
  BOOST_TEST(commit.error() == errc::superseded);
  wait([&] { return in_line() == 2; });
  stop_all();
}

BOOST_AUTO_TEST_CASE(the_effects_of_a_leader_that_is_gone_for_good_are_waited_for_no_longer_than_declared) {
  const auto begin = std::chrono::steady_clock::now();
  {
    asio::io_context elsewhere;  // a process of its own, as far as the others can tell
    session dying(elsewhere.get_executor(), options());
    career does(floor);
    does.with.hand_over_deadline = 1s;
    consumer_coordinator coordinator(dying, "/e", {.id = "dying"});
    coordinator.async_run(does, [](error_code) {});
    BOOST_TEST_REQUIRE(test::run_until(elsewhere, [&] { return does.has("execute 1"); }));
    floor.executing = 0;
    cluster().expire(dying.status().session_id);
  }
  auto& b = add();
  wait_executing(b, 2);
  BOOST_TEST(b.does.terms[0].how() == takeover::forced);
  BOOST_TEST((std::chrono::steady_clock::now() - begin >= 1s));
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_deadline_of_zero_is_not_waited_for) {
  {
    asio::io_context elsewhere;
    session dying(elsewhere.get_executor(), options());
    career does(floor);
    does.with.hand_over_deadline = 0s;
    consumer_coordinator coordinator(dying, "/e", {.id = "dying"});
    coordinator.async_run(does, [](error_code) {});
    BOOST_TEST_REQUIRE(test::run_until(elsewhere, [&] { return does.has("execute 1"); }));
    floor.executing = 0;
    cluster().expire(dying.status().session_id);
  }
  auto& b = add([](career& does) { does.with.hand_over_deadline = 0s; });
  wait_executing(b, 2);
  BOOST_TEST(b.does.terms[0].how() == takeover::forced);
  stop_all();
}

BOOST_AUTO_TEST_CASE(who_does_not_work_without_a_connection_ends_its_term) {
  auto& a = add(connect_far(), [](career& does) { does.with.work_while_suspended = false; });
  wait_executing(a, 1);
  disconnect(a.zk);
  wait([&] { return a.does.has("hand_over 1 suspended"); });
  BOOST_TEST(record_says(R"("phase":"executing")"), get("/e").data);
  reconnect();
  wait_executing(a, 2);
  BOOST_TEST(a.does.terms[1].how() == takeover::clean);
  BOOST_TEST(a.zk.status().incarnation == 1u);
  stop_all();
}

BOOST_AUTO_TEST_CASE(who_does_goes_on) {
  auto& a = add(connect_far());
  wait_executing(a, 1);
  disconnect(a.zk);
  BOOST_TEST(!a.does.terms[0].ending());
  recorder<> commit(executor());
  a.does.terms[0].async_commit(transaction().create("/x"), commit.token());
  reconnect();
  wait([&] { return commit.done(); });
  BOOST_TEST(!commit.error(), commit.error().message());
  BOOST_TEST(!a.does.terms[0].ending());
  remove("/x");
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_leader_whose_node_is_removed_hands_over) {
  auto& a = add();
  auto& b = add();
  wait_executing(a, 1);
  remove("/e/" + view().candidates[0].node);
  wait_executing(b, 2);
  BOOST_TEST(a.does.has("hand_over 1 lost"));
  wait([&] { return in_line() == 2; });
  BOOST_TEST(floor.most == 1);
  stop_all();
}

BOOST_AUTO_TEST_CASE(an_election_that_is_wiped_out_while_somebody_waits_for_a_confirmation) {
  hold_point message(executor());
  auto& a = add([&](career& does) { does.on_execute = [&](term) { return message.pass(); }; });
  auto& b = add();
  wait([&] { return message.is_reached(); });
  cluster().expire(a.session_id());
  wait([&] { return view().hand_over && view().hand_over->to == "b" && view().candidates.size() == 1; });
  const auto node = view().candidates[0].node;
  must(run(zk().async_commit(transaction().remove("/e/" + node).remove("/e"), tuple)));
  wait_executing(b, 1);
  BOOST_TEST(b.does.terms[0].how() == takeover::first);
  message.open();
  wait([&] { return in_line() == 2; });
  BOOST_TEST(a.does.has("hand_over 1 lost"));
  stop_all();
}

BOOST_AUTO_TEST_CASE(who_may_not_write_the_record_any_more_leaves_without) {
  request_log log;
  auto& a = add(connect(log.noted(options())));
  wait_executing(a, 1);
  const acl all_but_write{{perm_read | perm_create | perm_delete | perm_admin, "world", "anyone"}};
  forbid_writing("/e", all_but_write);
  log.clear();
  a.coordinator.stop();
  wait_ended(a);
  BOOST_TEST(a.does.has("hand_over 1 resigned"));
  BOOST_TEST(log.count("multi") <= 3, "it does not try again and again");
  BOOST_TEST(record_says(R"("phase":"executing")"), get("/e").data);
}

BOOST_AUTO_TEST_SUITE_END()
