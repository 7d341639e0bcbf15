// Only one of several coordinators works at a time, and terms follow each other in order.
#include "ensemble/replica.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
