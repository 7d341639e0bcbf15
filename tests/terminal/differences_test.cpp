// The events that are derived from two looks at a cluster.
#include "screen/differences.hpp"

#include "samples.hpp"

#include <boost/test/unit_test.hpp>

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
  BOOST_TEST(told(calm, samples::elections()) ==
             "/mail/sender: hand-over sender-a -> sender-b began (finishing)\n");
  BOOST_TEST(told(samples::elections(), calm) == "/mail/sender: hand-over from sender-a ended\n");
  auto later = samples::elections();
  later[1].hand_over->elapsed += std::chrono::seconds(1);
  BOOST_TEST(told(samples::elections(), later) == "");
}

BOOST_AUTO_TEST_CASE(trouble_is_told_once) {
  auto stalled = samples::elections();
  stalled[0].phase = "stalled";
  BOOST_TEST(told(samples::elections(), stalled) == "/billing/consumer: stalled\n");
  BOOST_TEST(told(stalled, stalled) == "");
}

BOOST_AUTO_TEST_CASE(elections_come_and_go) {
  auto fewer = samples::elections();
  fewer.erase(fewer.begin());
  BOOST_TEST(told(fewer, samples::elections()) == "/billing/consumer: new election\n");
  BOOST_TEST(told(samples::elections(), fewer) == "/billing/consumer: the election is gone\n");
}

BOOST_AUTO_TEST_SUITE_END()
