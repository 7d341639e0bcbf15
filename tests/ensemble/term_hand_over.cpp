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
