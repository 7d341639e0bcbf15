// Until when a session may be believed in: the arithmetic.
#include "session/lease.hpp"

#include <boost/test/unit_test.hpp>

using namespace zkrecipes;
using namespace std::chrono_literals;

namespace {

using time_point = lease_clock::time_point;
constexpr time_point start{1h};

detail::lease begun(lease_mode mode, std::chrono::milliseconds margin = 1s) {
  detail::lease made;
  made.begin(mode, 10s, margin, start, start);
  return made;
}

}  // namespace

#define CHECK_TIME(left, right) BOOST_TEST(((left) == (right)), ((left)-start).count() / 1000000 << " ms")

BOOST_AUTO_TEST_SUITE(leases)

BOOST_AUTO_TEST_CASE(it_is_counted_from_when_the_session_was_asked_for) {
  CHECK_TIME(begun(lease_mode::standard).valid_until(), start + 9s);
  CHECK_TIME(begun(lease_mode::strict).valid_until(), start + 9s);
}

BOOST_AUTO_TEST_CASE(a_margin_takes_at_most_half) {
  CHECK_TIME(begun(lease_mode::standard, 10s).valid_until(), start + 5s);
}

BOOST_AUTO_TEST_CASE(in_standard_mode_every_answer_counts_from_its_sending) {
  auto lease = begun(lease_mode::standard);
  lease.acknowledged(start + 2s, start + 2s, false);
  CHECK_TIME(lease.valid_until(), start + 11s);
  lease.acknowledged(start + 3s, start + 3s, true);
  CHECK_TIME(lease.valid_until(), start + 12s);
}

BOOST_AUTO_TEST_CASE(an_older_answer_takes_nothing_back) {
  auto lease = begun(lease_mode::standard);
  lease.acknowledged(start + 3s, start + 3s, false);
  lease.acknowledged(start + 1s, start + 1s, false);
  CHECK_TIME(lease.valid_until(), start + 12s);
}

BOOST_AUTO_TEST_CASE(in_standard_mode_heartbeats_come_three_times_in_a_lease) {
  auto lease = begun(lease_mode::standard);
  CHECK_TIME(lease.heartbeat_due(), start + 3s);
  lease.acknowledged(start + 3s, start + 3s, false);
  CHECK_TIME(lease.heartbeat_due(), start + 6s);
}

BOOST_AUTO_TEST_CASE(in_strict_mode_a_follower_proves_nothing) {
  auto lease = begun(lease_mode::strict);
  for (auto at : {3s, 5s, 8s}) lease.acknowledged(start + at, start + at, false);
  CHECK_TIME(lease.valid_until(), start + 9s);
  CHECK_TIME(lease.heartbeat_due(), start + 2500ms);
}

BOOST_AUTO_TEST_CASE(in_strict_mode_two_answers_of_the_leader_vouch_for_the_one_before) {
  auto lease = begun(lease_mode::strict);
  lease.acknowledged(start + 3s, start + 3s, true);  // there was a report of `start` before it
  CHECK_TIME(lease.heartbeat_due(), start + 3s);
  lease.acknowledged(start + 4s, start + 5s, true);  // and the leader has read that: nothing new, `start` was proof
  CHECK_TIME(lease.valid_until(), start + 9s);
  CHECK_TIME(lease.heartbeat_due(), start + 5500ms);
  lease.acknowledged(start + 6s, start + 7s, true);
  CHECK_TIME(lease.valid_until(), start + 9s);
  lease.acknowledged(start + 7s, start + 7s, true);
  CHECK_TIME(lease.valid_until(), start + 12s);  // for the one at 3 s
}

BOOST_AUTO_TEST_CASE(in_strict_mode_what_was_sent_before_an_answer_does_not_vouch_for_it) {
  auto lease = begun(lease_mode::strict);
  lease.acknowledged(start + 3s, start + 4s, true);
  lease.acknowledged(start + 3999ms, start + 4100ms, true);  // sent before the answer to the second came
  CHECK_TIME(lease.heartbeat_due(), start + 4s);
  lease.acknowledged(start + 4s, start + 5s, true);
  lease.acknowledged(start + 6499ms, start + 6500ms, true);  // a moment too early to be a second
  CHECK_TIME(lease.heartbeat_due(), start + 6500ms);
  lease.acknowledged(start + 6500ms, start + 6600ms, true);
  lease.acknowledged(start + 6600ms, start + 6700ms, true);
  CHECK_TIME(lease.valid_until(), start + 12s);
}

BOOST_AUTO_TEST_CASE(a_session_taken_up_again_begins_anew) {
  auto lease = begun(lease_mode::strict);
  lease.acknowledged(start + 3s, start + 3s, true);
  lease.begin(lease_mode::strict, 4s, 1s, start + 8s, start + 9s);
  CHECK_TIME(lease.valid_until(), start + 11s);
  CHECK_TIME(lease.heartbeat_due(), start + 10s);
}

BOOST_AUTO_TEST_CASE(strict_heartbeats_keep_a_lease_for_ever) {
  auto lease = begun(lease_mode::strict);
  for (int i = 0; i < 100; ++i) {
    const auto sent = lease.heartbeat_due();
    const auto answered = sent + 700ms;  // a slow answer
    BOOST_TEST_REQUIRE((answered < lease.valid_until()), "heartbeat " << i);
    lease.acknowledged(sent, answered, true);
  }
}

BOOST_AUTO_TEST_SUITE_END()
