// Heartbeats, and the lease as the session keeps it.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

session_options strict() {
  auto options = fake_session::usual();
  options.lease = lease_mode::strict;
  return options;
}

/// Sends a read at this moment.
void read(fake_session& it) {
  auto reading = it.record<node_data>();
  it.zk.async_get("/a", reading.token());
  it.settle();
}

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

BOOST_FIXTURE_TEST_CASE(an_answer_counts_from_when_the_request_was_sent, fake_session) {
  connect();
  advance(2s);
  const auto sent = now();
  read(*this);
  advance(1s);
  answer();
  BOOST_TEST((zk.valid_until() == sent + 9s));
}

BOOST_FIXTURE_TEST_CASE(a_request_that_was_lost_counts_nothing, fake_session) {
  connect();
  const auto before = zk.valid_until();
  advance(2s);
  read(*this);
  lose();
  BOOST_TEST((zk.valid_until() == before));
}

BOOST_FIXTURE_TEST_CASE(an_answer_that_the_session_is_over_counts_nothing, fake_session) {
  connect();
  const auto before = zk.valid_until();
  advance(2s);
  read(*this);
  fail(errc::session_expired);
  BOOST_TEST((zk.valid_until() == before));
}

BOOST_FIXTURE_TEST_CASE(nobody_holds_anything_and_nothing_is_sent, fake_session) {
  connect();
  advance(1min);
  BOOST_TEST(pending().empty());
  BOOST_TEST(zk.counters().heartbeats == 0u);
}

BOOST_FIXTURE_TEST_CASE(while_something_is_held_heartbeats_keep_the_lease, fake_session) {
  connect();
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

BOOST_FIXTURE_TEST_CASE(a_heartbeat_is_not_sent_on_top_of_an_unanswered_one, fake_session) {
  connect();
  detail::condition told(zk.get_core()->get_scheduler());
  const auto holder = zk.get_core()->add_holder(told);
  advance(8s);
  BOOST_TEST(pending() == strings{"exists /"}, boost::test_tools::per_element());
  zk.get_core()->remove_holder(holder);
}

BOOST_FIXTURE_TEST_CASE(who_holds_something_is_told_when_the_lease_is_over_and_not_before, fake_session) {
  connect();
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
  auto syncing = it.record<>();
  it.zk.async_sync(syncing.token());
  it.settle();
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
  auto setting = it.record<node_stat>();
  it.zk.async_set("/a", "x", any_version, setting.token());
  it.settle();
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
