// The arithmetic of the lease: until when a session may be believed in.
#include "session/lease.hpp"

#include <boost/test/unit_test.hpp>

using namespace zkrecipes;
using namespace std::chrono_literals;
using detail::witness;

namespace {

using time_point = lease_clock::time_point;
constexpr time_point lease_start{1h};

detail::lease begun(lease_mode mode, std::chrono::milliseconds margin = 1s) {
  detail::lease made;
  made.begin(mode, 10s, margin, lease_start, lease_start);
  return made;
}

}  // namespace

#define CHECK_TIME(left, right) BOOST_TEST(((left) == (right)), ((left)-lease_start).count() / 1000000 << " ms")

BOOST_AUTO_TEST_SUITE(leases)

BOOST_AUTO_TEST_CASE(it_is_counted_from_when_the_session_was_asked_for) {
  CHECK_TIME(begun(lease_mode::standard).valid_until(), lease_start + 9s);
  CHECK_TIME(begun(lease_mode::strict).valid_until(), lease_start + 9s);
}

BOOST_AUTO_TEST_CASE(a_margin_takes_at_most_half) {
  CHECK_TIME(begun(lease_mode::standard, 10s).valid_until(), lease_start + 5s);
}

BOOST_AUTO_TEST_CASE(in_standard_mode_every_answer_counts_from_its_sending) {
  auto lease = begun(lease_mode::standard);
  lease.acknowledged(lease_start + 2s, lease_start + 2s, witness::server);
  CHECK_TIME(lease.valid_until(), lease_start + 11s);
  lease.acknowledged(lease_start + 3s, lease_start + 3s, witness::quorum);
  CHECK_TIME(lease.valid_until(), lease_start + 12s);
}

BOOST_AUTO_TEST_CASE(an_older_answer_takes_nothing_back) {
  auto lease = begun(lease_mode::standard);
  lease.acknowledged(lease_start + 3s, lease_start + 3s, witness::server);
  lease.acknowledged(lease_start + 1s, lease_start + 1s, witness::server);
  CHECK_TIME(lease.valid_until(), lease_start + 12s);
}

BOOST_AUTO_TEST_CASE(in_standard_mode_heartbeats_come_three_times_in_a_lease) {
  auto lease = begun(lease_mode::standard);
  CHECK_TIME(lease.heartbeat_due(), lease_start + 3s);
  BOOST_TEST((lease.heartbeat_needs() == witness::server));
  lease.acknowledged(lease_start + 3s, lease_start + 3s, witness::server);
  CHECK_TIME(lease.heartbeat_due(), lease_start + 6s);
}

BOOST_AUTO_TEST_CASE(in_strict_mode_a_server_alone_proves_nothing) {
  auto lease = begun(lease_mode::strict);
  for (auto at : {3s, 5s, 8s}) lease.acknowledged(lease_start + at, lease_start + at, witness::server);
  CHECK_TIME(lease.valid_until(), lease_start + 9s);
  CHECK_TIME(lease.heartbeat_due(), lease_start + 2750ms);
}

BOOST_AUTO_TEST_CASE(in_strict_mode_a_leader_without_a_quorum_proves_nothing) {
  auto lease = begun(lease_mode::strict);
  for (auto at = 3s; at < 30s; at += 1s) lease.acknowledged(lease_start + at, lease_start + at, witness::leader);
  CHECK_TIME(lease.valid_until(), lease_start + 9s);
  BOOST_TEST((lease.heartbeat_needs() == witness::quorum));
}

BOOST_AUTO_TEST_CASE(in_strict_mode_two_later_answers_vouch_for_the_one_before) {
  auto lease = begun(lease_mode::strict);
  BOOST_TEST((lease.heartbeat_needs() == witness::leader));
  lease.acknowledged(lease_start + 3s, lease_start + 3s,
                     witness::leader);  // the leader got a report of `lease_start` before this
  CHECK_TIME(lease.heartbeat_due(), lease_start + 3s);
  BOOST_TEST((lease.heartbeat_needs() == witness::quorum));
  lease.acknowledged(lease_start + 4s, lease_start + 5s,
                     witness::quorum);  // the leader has read it, but `lease_start` was proof already
  CHECK_TIME(lease.valid_until(), lease_start + 9s);
  CHECK_TIME(lease.heartbeat_due(), lease_start + 5750ms);
  lease.acknowledged(lease_start + 6s, lease_start + 7s, witness::leader);
  CHECK_TIME(lease.valid_until(), lease_start + 9s);
  lease.acknowledged(lease_start + 7s, lease_start + 7s, witness::leader);
  CHECK_TIME(lease.valid_until(), lease_start + 9s);
  lease.acknowledged(lease_start + 7s, lease_start + 7s, witness::quorum);
  CHECK_TIME(lease.valid_until(), lease_start + 12s);  // the proof is now the request sent at 3 s
}

BOOST_AUTO_TEST_CASE(in_strict_mode_what_was_sent_before_an_answer_does_not_vouch_for_it) {
  auto lease = begun(lease_mode::strict);
  lease.acknowledged(lease_start + 3s, lease_start + 4s, witness::quorum);
  lease.acknowledged(lease_start + 3999ms, lease_start + 4100ms,
                     witness::quorum);  // sent before the second one was answered
  CHECK_TIME(lease.heartbeat_due(), lease_start + 4s);
  lease.acknowledged(lease_start + 4s, lease_start + 5s, witness::quorum);
  lease.acknowledged(lease_start + 6749ms, lease_start + 6750ms,
                     witness::quorum);  // a moment too early to be the second one
  CHECK_TIME(lease.heartbeat_due(), lease_start + 6750ms);
  lease.acknowledged(lease_start + 6750ms, lease_start + 6800ms, witness::quorum);
  lease.acknowledged(lease_start + 6800ms, lease_start + 6900ms, witness::quorum);
  CHECK_TIME(lease.valid_until(), lease_start + 12s);
}

BOOST_AUTO_TEST_CASE(in_standard_mode_a_session_taken_up_again_counts_from_then) {
  auto lease = begun(lease_mode::standard);
  lease.resume(10s, 1s, lease_start + 8s, lease_start + 9s);
  CHECK_TIME(lease.valid_until(), lease_start + 17s);
}

BOOST_AUTO_TEST_CASE(in_strict_mode_a_reconnect_proves_nothing_before_a_quorum_has_answered) {
  auto lease = begun(lease_mode::strict);
  lease.acknowledged(lease_start + 3s, lease_start + 3s, witness::leader);
  lease.resume(10s, 1s, lease_start + 6s, lease_start + 7s);
  CHECK_TIME(lease.valid_until(), lease_start + 9s);
  CHECK_TIME(lease.heartbeat_due(), lease_start + 7s);
  BOOST_TEST((lease.heartbeat_needs() == witness::quorum));
  lease.acknowledged(lease_start + 7s, lease_start + 8s, witness::leader);
  CHECK_TIME(lease.valid_until(), lease_start + 9s);
  lease.acknowledged(lease_start + 7s, lease_start + 8s,
                     witness::quorum);  // no report is needed: the leader itself took part
  CHECK_TIME(lease.valid_until(), lease_start + 15s);
  CHECK_TIME(lease.heartbeat_due(), lease_start + 9750ms);
}

BOOST_AUTO_TEST_CASE(the_least_timeout_that_a_session_ever_had_counts) {
  for (auto mode : {lease_mode::standard, lease_mode::strict}) {
    auto lease = begun(mode);
    lease.resume(4s, 1s, lease_start + 1s, lease_start + 1s);
    lease.resume(20s, 1s, lease_start + 2s, lease_start + 2s);
    lease.acknowledged(lease_start + 2s, lease_start + 3s, witness::quorum);
    CHECK_TIME(lease.valid_until(), lease_start + 5s);
  }
}

BOOST_AUTO_TEST_CASE(strict_heartbeats_keep_a_lease_for_ever) {
  auto lease = begun(lease_mode::strict);
  for (int i = 0; i < 100; ++i) {
    const auto sent = lease.heartbeat_due();
    const auto answered = sent + 700ms;  // a slow answer
    BOOST_TEST_REQUIRE((answered < lease.valid_until()), "heartbeat " << i);
    lease.acknowledged(sent, answered, lease.heartbeat_needs());
  }
}

BOOST_AUTO_TEST_SUITE_END()
