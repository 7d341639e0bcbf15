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
  made.begin(mode, 10s, margin, start);
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
  lease.acknowledged(start + 2s, false);
  CHECK_TIME(lease.valid_until(), start + 11s);
  lease.acknowledged(start + 3s, true);
  CHECK_TIME(lease.valid_until(), start + 12s);
}

BOOST_AUTO_TEST_CASE(an_older_answer_takes_nothing_back) {
  auto lease = begun(lease_mode::standard);
  lease.acknowledged(start + 3s, false);
  lease.acknowledged(start + 1s, false);
  CHECK_TIME(lease.valid_until(), start + 12s);
}

BOOST_AUTO_TEST_CASE(in_standard_mode_heartbeats_come_three_times_in_a_lease) {
  auto lease = begun(lease_mode::standard);
  CHECK_TIME(lease.heartbeat_due(), start + 3s);
  lease.acknowledged(start + 3s, false);
  CHECK_TIME(lease.heartbeat_due(), start + 6s);
}

BOOST_AUTO_TEST_CASE(in_strict_mode_a_follower_proves_nothing) {
  auto lease = begun(lease_mode::strict);
  lease.acknowledged(start + 5s, false);
  CHECK_TIME(lease.valid_until(), start + 9s);
  CHECK_TIME(lease.heartbeat_due(), start + 2500ms);
}

BOOST_AUTO_TEST_CASE(in_strict_mode_an_answer_of_the_leader_vouches_for_the_one_before) {
  auto lease = begun(lease_mode::strict);
  lease.acknowledged(start + 3s, true);
  CHECK_TIME(lease.valid_until(), start + 9s);  // for the one at `start`
  lease.acknowledged(start + 6s, true);
  CHECK_TIME(lease.valid_until(), start + 12s);
  CHECK_TIME(lease.heartbeat_due(), start + 8500ms);
}

BOOST_AUTO_TEST_CASE(in_strict_mode_answers_closer_than_a_quarter_of_the_timeout_do_not_vouch) {
  auto lease = begun(lease_mode::strict);
  lease.acknowledged(start + 2499ms, true);
  lease.acknowledged(start + 2500ms, true);  // vouches for `start`
  CHECK_TIME(lease.valid_until(), start + 9s);
  lease.acknowledged(start + 4999ms, true);  // 2499 ms after it: does not vouch for it
  CHECK_TIME(lease.valid_until(), start + 9s);
  lease.acknowledged(start + 5s, true);
  CHECK_TIME(lease.valid_until(), start + 11500ms);
}

BOOST_AUTO_TEST_CASE(a_session_taken_up_again_begins_anew) {
  auto lease = begun(lease_mode::strict);
  lease.acknowledged(start + 3s, true);
  lease.begin(lease_mode::strict, 4s, 1s, start + 8s);
  CHECK_TIME(lease.valid_until(), start + 11s);
  CHECK_TIME(lease.heartbeat_due(), start + 9s);
}

BOOST_AUTO_TEST_CASE(strict_heartbeats_keep_a_lease_for_ever) {
  auto lease = begun(lease_mode::strict);
  auto present = start;
  for (int i = 0; i < 100; ++i) {
    const auto sent = lease.heartbeat_due();
    present = sent + 1s;  // a slow answer
    BOOST_TEST_REQUIRE((present < lease.valid_until()), "heartbeat " << i);
    lease.acknowledged(sent, true);
  }
}

BOOST_AUTO_TEST_SUITE_END()
