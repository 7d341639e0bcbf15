// The end of a term: what the career hears of it, and when.
#include "ensemble/replica.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
