// The events that are derived from two looks at a cluster.
#include "screen/differences.hpp"

#include <boost/test/unit_test.hpp>

#include "samples.hpp"

using namespace zkadmin;

namespace {

template <class Status>
std::string told(const std::vector<Status>& before, const std::vector<Status>& after) {
  std::string text;
  for (const auto& each : differences(std::span(before), std::span(after))) text += each.text + "\n";
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(events)

BOOST_AUTO_TEST_CASE(nothing_happened) {
  BOOST_TEST(told(samples::servers(), samples::servers()) == "");
  BOOST_TEST(told(samples::elections(), samples::elections()) == "");
}

BOOST_AUTO_TEST_CASE(figures_are_no_events) {
  auto after = samples::servers();
  after[0].connections = 99;
  after[0].zxid = 0x10000002f;
  BOOST_TEST(told(samples::servers(), after) == "");
}

BOOST_AUTO_TEST_CASE(server_down_and_up) {
  auto up = samples::servers();
  up[2] = up[0];
  up[2].server = "127.1.2.3:2181";
  BOOST_TEST(told(up, samples::servers()) == "127.1.2.3:2181 is down: Connection refused\n");
  BOOST_TEST(told(samples::servers(), up) == "127.1.2.3:2181: down -> follower\n");
}

BOOST_AUTO_TEST_CASE(server_changes_its_role) {
  auto after = samples::servers();
  after[0].role = server_role::leader;
  after[1].role = server_role::not_serving;
  after[1].error = "not serving requests";
  BOOST_TEST(told(samples::servers(), after) ==
             "127.1.2.1:2181: follower -> leader\n127.1.2.2:2181: not serving requests\n");
  BOOST_TEST(told(after, samples::servers()) ==
             "127.1.2.1:2181: leader -> follower\n127.1.2.2:2181: not serving -> leader\n");
}

BOOST_AUTO_TEST_CASE(leader_changes_with_a_new_term) {
  auto after = samples::elections();
  after[0].leader = after[0].waiters[0];
  after[0].waiters.erase(after[0].waiters.begin());
  after[0].epoch = 8;
  after[0].takeover = "forced";
  BOOST_TEST(told(samples::elections(), after) ==
             "/billing/consumer: leader worker-1 -> worker-2\n/billing/consumer: term 8 began (forced)\n");
}

BOOST_AUTO_TEST_CASE(leader_goes_and_comes) {
  auto none = samples::elections();
  none[0].leader.reset();
  BOOST_TEST(told(samples::elections(), none) == "/billing/consumer: worker-1 leads no more\n");
  BOOST_TEST(told(none, samples::elections()) == "/billing/consumer: worker-1 leads\n");
}

BOOST_AUTO_TEST_CASE(the_same_leader_with_another_node_is_a_change) {
  auto after = samples::elections();
  ++after[0].leader->token;
  BOOST_TEST(told(samples::elections(), after) == "/billing/consumer: leader worker-1 -> worker-1\n");
}

BOOST_AUTO_TEST_CASE(hand_over_begins_and_ends) {
  auto calm = samples::elections();
  calm[1].hand_over.reset();
  BOOST_TEST(told(calm, samples::elections()) == "/mail/sender: hand-over sender-a -> sender-b began (finishing)\n");
  BOOST_TEST(told(samples::elections(), calm) == "/mail/sender: hand-over from sender-a ended\n");
  auto later = samples::elections();
  later[1].hand_over->elapsed += std::chrono::seconds(1);
  BOOST_TEST(told(samples::elections(), later) == "");
}

BOOST_AUTO_TEST_CASE(trouble_is_told_once) {
  auto stalled = samples::elections();
  stalled[0].phase = "stalled";
  BOOST_TEST(told(samples::elections(), stalled) ==
             "/billing/consumer: a leader without progress: its term was ended\n");
  BOOST_TEST(told(stalled, stalled) == "");
}

BOOST_AUTO_TEST_CASE(elections_come_and_go) {
  auto fewer = samples::elections();
  fewer.erase(fewer.begin());
  BOOST_TEST(told(fewer, samples::elections()) == "/billing/consumer: new election\n");
  BOOST_TEST(told(samples::elections(), fewer) == "/billing/consumer: the election is gone\n");
}

BOOST_AUTO_TEST_CASE(silence_is_not_called_down) {
  auto after = samples::servers();
  after[0] = server_status{};
  after[0].server = "127.1.2.1:2181";
  after[0].silent = true;
  after[0].error = "no answer within 400 ms";
  BOOST_TEST(told(samples::servers(), after) == "127.1.2.1:2181 is silent: no answer within 400 ms\n");
  auto later = after;
  later[0].silent = false;
  later[0].error = "Connection refused";
  BOOST_TEST(told(after, later) == "127.1.2.1:2181: silent -> down: Connection refused\n");
  BOOST_TEST(told(later, after) == "127.1.2.1:2181: down -> silent: no answer within 400 ms\n");
}

BOOST_AUTO_TEST_CASE(the_first_that_is_heard_of_a_server_is_no_event) {
  auto before = samples::servers();
  for (auto& each : before) {
    const std::string name = each.server;
    each = server_status{};
    each.server = name;
    each.silent = true;
  }
  BOOST_TEST(told(before, samples::servers()) == "");
}

BOOST_AUTO_TEST_CASE(a_problem_is_told_when_it_begins) {
  auto before = samples::troubles();
  before[0].leader = candidate_status{"worker-1", 0, 1, 1, "n"};
  before[1].resignation_asked.reset();
  BOOST_TEST(told(before, samples::troubles()) ==
             "/orders/consumer: worker-1 leads no more\n"
             "/orders/consumer: its record has a leader, but nobody is in line\n"
             "/parcels/consumer: worker-1 was asked to give up\n");
  BOOST_TEST(told(samples::troubles(), samples::troubles()) == "");
}

BOOST_AUTO_TEST_CASE(a_problem_that_grows_old_is_told_once) {
  const auto before = samples::troubles();
  auto after = before;
  after[1].resignation_asked = std::chrono::seconds(11);
  BOOST_TEST(told(before, after) ==
             "/parcels/consumer: worker-1 was asked to give up 11 s ago, and has not begun to\n");
  auto later = after;
  later[1].resignation_asked = std::chrono::seconds(12);
  BOOST_TEST(told(after, later) == "");
}

BOOST_AUTO_TEST_CASE(what_may_not_be_read_any_more_is_not_said_to_have_ended) {
  auto after = samples::elections();
  after[0] = samples::troubles()[2];
  after[0].path = "/billing/consumer";
  BOOST_TEST(told(samples::elections(), after) == "/billing/consumer: it may not be read with these credentials\n");
}

BOOST_AUTO_TEST_SUITE_END()
