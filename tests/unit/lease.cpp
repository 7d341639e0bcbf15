// The arithmetic of the lease: until when a session may be believed in.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include "session/session_life.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace std::chrono_literals;
using detail::witness;
using namespace zkrecipes::test;

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

// Heartbeats, and the lease as the session keeps it.
namespace {

session_options strict() {
  auto options = fake_session::usual();
  options.lease = lease_mode::strict;
  return options;
}

/// Sends a read at this moment.
void read(fake_session& it) { auto reading = it.zk.async_get("/a", it.begun()); }

}  // namespace

BOOST_AUTO_TEST_SUITE(session_leases)

BOOST_FIXTURE_TEST_CASE(there_is_a_lease_while_there_is_a_session, fake_session) {
  const auto asked = now();
  BOOST_TEST((zk.valid_until() == lease_clock::time_point{}));
  advance(1s);
  connect();
  BOOST_TEST((zk.valid_until() == now() + 9s), "the sync counts");
  advance(1s);
  lose();
  BOOST_TEST((zk.valid_until() == asked + 10s), "suspended is not over");
  lose(errc::session_expired);
  BOOST_TEST((zk.valid_until() == lease_clock::time_point{}));
}

BOOST_FIXTURE_TEST_CASE(an_answer_counts_from_when_the_request_was_sent, connected_session) {
  advance(2s);
  const auto sent = now();
  read(*this);
  advance(1s);
  answer();
  BOOST_TEST((zk.valid_until() == sent + 9s));
}

BOOST_FIXTURE_TEST_CASE(a_request_that_was_lost_counts_nothing, connected_session) {
  const auto before = zk.valid_until();
  advance(2s);
  read(*this);
  lose();
  BOOST_TEST((zk.valid_until() == before));
}

BOOST_FIXTURE_TEST_CASE(an_answer_that_the_session_is_over_counts_nothing, connected_session) {
  const auto before = zk.valid_until();
  advance(2s);
  read(*this);
  fail(errc::session_expired);
  BOOST_TEST((zk.valid_until() == before));
}

BOOST_FIXTURE_TEST_CASE(nobody_holds_anything_and_nothing_is_sent, connected_session) {
  advance(1min);
  BOOST_TEST(pending().empty());
  BOOST_TEST(zk.counters().heartbeats == 0u);
}

BOOST_FIXTURE_TEST_CASE(while_something_is_held_heartbeats_keep_the_lease, connected_session) {
  auto begin = now();
  detail::condition told(zk.get_core()->get_scheduler());
  const auto holder = zk.get_core()->add_holder(told);
  for (int i = 1; i <= 5; ++i) {
    advance(3s - 1ms);
    BOOST_TEST(pending().empty());
    advance(1ms);
    BOOST_TEST_REQUIRE(pending() == strings{"exists /"}, boost::test_tools::per_element());
    answer();
    BOOST_TEST((zk.valid_until() == begin + i * 3s + 9s));
  }
  zk.get_core()->remove_holder(holder);
  advance(3s);
  if (!pending().empty()) answer();  // a heartbeat that was already due
  advance(1min);
  BOOST_TEST(pending().empty());
}

BOOST_FIXTURE_TEST_CASE(a_heartbeat_is_not_sent_on_top_of_an_unanswered_one, connected_session) {
  detail::condition told(zk.get_core()->get_scheduler());
  const auto holder = zk.get_core()->add_holder(told);
  advance(8s);
  BOOST_TEST(pending() == strings{"exists /"}, boost::test_tools::per_element());
  zk.get_core()->remove_holder(holder);
}

BOOST_FIXTURE_TEST_CASE(who_holds_something_is_told_when_the_lease_is_over_and_not_before, connected_session) {
  detail::condition told(zk.get_core()->get_scheduler());
  const auto holder = zk.get_core()->add_holder(told);
  int times = 0;
  auto count = [&]() -> asio::awaitable<void> {
    for (;;) {
      co_await told.wait();
      ++times;
    }
  };
  asio::co_spawn(zk.get_core()->strand(), count(), asio::detached);
  const auto begin = now();
  advance(3s);
  answer();  // the heartbeat: the lease ends later than it would have
  BOOST_TEST((zk.valid_until() == begin + 12s));
  advance(9s - 1ms);
  BOOST_TEST(times == 0);
  advance(1ms);
  BOOST_TEST(times == 1);
  answer();  // the heartbeat of 6 s: the lease is renewed on the same connection
  BOOST_TEST((zk.valid_until() == begin + 15s));
  advance(3s - 1ms);
  BOOST_TEST(times == 1);
  advance(1ms);
  BOOST_TEST(times == 2);
  zk.get_core()->remove_holder(holder);
}

BOOST_AUTO_TEST_CASE(in_strict_mode_only_a_quorum_proves_that_the_leader_leads) {
  fake_session it(strict());
  it.connect();
  const auto begin = it.now();
  it.advance(2750ms);
  CHECK_PENDING_OF(it, "sync /");
  it.answer();
  CHECK_PENDING_OF(it, "multi /");  // a transaction, at once
  it.answer();
  BOOST_TEST((it.zk.valid_until() == begin + 9s), "they vouch for the session's beginning");
  it.advance(2750ms);
  it.answer();
  auto syncing = it.zk.async_sync(it.begun());
  CHECK_PENDING_OF(it, "multi /", "sync /");
  const auto transaction = std::move(it.last().pending.front());
  it.last().pending.pop_front();
  it.answer();  // the sync of the program itself
  BOOST_TEST((it.zk.valid_until() == begin + 9s), "a sync is answered by a deposed leader, too");
  it.last().pending.push_front(transaction);
  const auto what = it.answer();
  BOOST_TEST((it.zk.valid_until() == begin + 2750ms + 9s));
  BOOST_TEST_REQUIRE(what.operations.size() == 1u);
  BOOST_TEST((what.operations[0].type == operation::kind::check), "it changes nothing");
}

BOOST_AUTO_TEST_CASE(in_strict_mode_a_reconnect_proves_nothing_by_itself) {
  fake_session it(strict());
  it.connect();
  const auto begin = it.now();
  it.advance(2s);
  it.lose();
  it.advance(1s);
  it.accept(0x77);
  const auto again = it.now();
  BOOST_TEST((it.zk.valid_until() == begin + 9s), "a deposed leader takes sessions up, too");
  CHECK_PENDING_OF(it, "multi /");
  it.answer();
  BOOST_TEST((it.zk.valid_until() > begin + 9s));
  BOOST_TEST((it.zk.valid_until() <= again + 9s));
}

BOOST_AUTO_TEST_CASE(in_strict_mode_what_a_server_refuses_by_itself_proves_nothing) {
  fake_session it(strict());
  it.connect();
  const auto begin = it.now();
  it.advance(2750ms);
  it.fail(errc::server_error);  // throttled, by a follower that may have no leader
  it.advance(49ms);
  CHECK_PENDING_OF(it);  // the sync is not sent again at once
  it.advance(1ms);
  CHECK_PENDING_OF(it, "sync /");
  it.answer();
  it.fail(errc::server_error);
  it.advance(50ms);
  CHECK_PENDING_OF(it, "multi /");
  it.answer();
  it.advance(2750ms);
  it.answer();  // the second sync, which vouches for the first
  auto setting = it.zk.async_set("/a", "x", any_version, it.begun());
  it.fail(errc::server_error);  // the transaction
  it.fail(errc::no_auth);       // the write: an access check before the leader's refuses it
  BOOST_TEST((it.zk.valid_until() == begin + 9s));
}

// The heartbeats are throttled meanwhile, so only the read could count in their place.
BOOST_AUTO_TEST_CASE(in_strict_mode_a_read_proves_nothing) {
  fake_session it(strict());
  it.connect();
  const auto begin = it.now();
  it.advance(2750ms);
  it.fail(errc::server_error);
  read(it);
  it.answer();
  it.advance(50ms);
  CHECK_PENDING_OF(it, "sync /");  // because the leader has not shown a sign yet
  it.answer();
  CHECK_PENDING_OF(it, "multi /");
  it.fail(errc::server_error);
  it.advance(50ms);
  CHECK_PENDING_OF(it, "multi /");
  it.answer();
  it.advance(2750ms);
  CHECK_PENDING_OF(it, "sync /");
  it.answer();
  CHECK_PENDING_OF(it, "multi /");
  it.fail(errc::server_error);
  read(it);  // in place of the transaction that would prove the first sync
  it.answer();
  BOOST_TEST((it.zk.valid_until() == begin + 9s));
}

BOOST_AUTO_TEST_CASE(in_strict_mode_a_transaction_that_fails_is_proof) {
  for (auto why : {errc::no_auth, errc::no_node, errc::bad_version}) {
    fake_session it(strict());
    it.connect();
    it.advance(2750ms);
    it.answer();
    const auto begin = it.now();
    it.answer();
    it.advance(2750ms);
    it.answer();
    it.fail(why);
    BOOST_TEST((it.zk.valid_until() == begin + 9s), make_error_code(why).message());
  }
}

BOOST_AUTO_TEST_CASE(the_margin_can_be_chosen) {
  auto options = fake_session::usual();
  options.lease_margin = 4s;
  fake_session it(options);
  it.connect();
  BOOST_TEST((it.zk.valid_until() == it.now() + 6s));
}

BOOST_AUTO_TEST_SUITE_END()
