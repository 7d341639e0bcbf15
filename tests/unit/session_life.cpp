// The life of a session (connecting, suspended, expired, closed), in which the test decides each step.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/lock.hpp>

#include "unit/fake_session.hpp"
#include "unit/poor_world.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_AUTO_TEST_SUITE(session_life)

BOOST_FIXTURE_TEST_CASE(states_reasons_and_incarnations, fake_session) {
  BOOST_TEST((zk.status().state == session_state::connecting));
  accept(0x77, 8s);
  answer();
  auto status = zk.status();
  BOOST_TEST((status.state == session_state::connected));
  BOOST_TEST(status.incarnation == 1u);
  BOOST_TEST(status.session_id == 0x77);
  BOOST_TEST((status.timeout == 8s));
  BOOST_TEST(status.server == "127.0.0.1:1");
  lose();
  status = zk.status();
  BOOST_TEST((status.state == session_state::suspended));
  BOOST_TEST((status.reason == errc::connection_loss));
  BOOST_TEST(status.session_id == 0x77);
  BOOST_TEST(status.server == "");
  connect();
  BOOST_TEST((zk.status().state == session_state::connected));
  BOOST_TEST(zk.status().incarnation == 1u);
  lose();
  lose(errc::session_expired);
  BOOST_TEST((zk.status().state == session_state::expired));
  BOOST_TEST((zk.status().reason == errc::session_expired));
  accept(0x88);
  BOOST_TEST((zk.status().state == session_state::connected));
  BOOST_TEST(zk.status().incarnation == 2u);
  BOOST_TEST(zk.status().session_id == 0x88);
  BOOST_TEST(zk.counters().connects == 3u);
  BOOST_TEST(zk.counters().incarnations == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_session_is_taken_up_again_with_its_key_and_begun_anew_after_it_expired, fake_session) {
  BOOST_TEST(last().options.key.id == 0);
  BOOST_TEST((last().options.key.timeout == 10s));
  accept(0x77, 8s);
  answer();
  lose();
  BOOST_TEST(last().options.key.id == 0x77);
  BOOST_TEST(last().options.key.password == "secret");
  BOOST_TEST((last().options.key.timeout == 8s));
  lose(errc::session_expired);
  BOOST_TEST(last().options.key.id == 0);
  BOOST_TEST((last().options.key.timeout == 10s), "as asked for, not as granted before");
}

BOOST_FIXTURE_TEST_CASE(every_change_of_state_is_told_to_who_waits_for_one, fake_session) {
  auto change = record<session_status>();
  zk.async_status_change(0, change.token());
  settle();
  BOOST_TEST(!change.done());
  accept(0x77);
  BOOST_TEST_REQUIRE(change.done());
  BOOST_TEST((change.result<0>().state == session_state::connected));
  auto missed = record<session_status>();
  lose();
  zk.async_status_change(change.result<0>().changes, missed.token());
  settle();
  BOOST_TEST_REQUIRE(missed.done());
  BOOST_TEST((missed.result<0>().state == session_state::suspended));
}

BOOST_FIXTURE_TEST_CASE(after_the_end_there_is_no_change_to_wait_for, fake_session) {
  connect();
  auto closing = record<>();
  zk.async_close(closing.token());
  settle();
  lose(errc::closed);
  BOOST_TEST(closing.done());
  BOOST_TEST((zk.status().state == session_state::closed));
  auto change = record<session_status>();
  zk.async_status_change(zk.status().changes, change.token());
  settle();
  BOOST_TEST_REQUIRE(change.done(), "it would wait for ever");
  BOOST_TEST((change.error() == errc::closed));
}

BOOST_FIXTURE_TEST_CASE(to_wait_for_a_connection_can_have_a_limit, fake_session) {
  auto late = record<>();
  auto soon = record<>();
  auto closed = record<>();
  zk.async_connected_for(3s, late.token());
  zk.async_connected_for(4s, soon.token());
  advance(3s - 1ms);
  BOOST_TEST(!late.done());
  advance(1ms);
  BOOST_TEST_REQUIRE(late.done());
  BOOST_TEST((late.error() == errc::timed_out));
  connect();
  BOOST_TEST_REQUIRE(soon.done());
  BOOST_TEST(!soon.error());
  lose();
  zk.async_connected_for(std::chrono::hours::max(), closed.token());
  auto closing = record<>();
  zk.async_close(closing.token());
  settle();
  BOOST_TEST_REQUIRE(closed.done());
  BOOST_TEST((closed.error() == errc::closed));
}

BOOST_FIXTURE_TEST_CASE(refused_credentials_are_the_end, fake_session) {
  auto waiting = record<>();
  zk.async_connected(waiting.token());
  auto reading = record<node_data>();
  zk.async_get("/a", reading.token());
  settle();
  lose(errc::auth_failed);
  BOOST_TEST((zk.status().state == session_state::closed));
  BOOST_TEST((zk.status().reason == errc::auth_failed));
  BOOST_TEST_REQUIRE(waiting.done());
  BOOST_TEST((waiting.error() == errc::auth_failed));
  BOOST_TEST_REQUIRE(reading.done());
  BOOST_TEST(is_fatal(reading.error()));
  advance(1h);
  BOOST_TEST(state().connections.size() == 1u, "not tried again");
}

BOOST_FIXTURE_TEST_CASE(closing_asks_the_server_and_waits_no_longer_than_the_connect_timeout, fake_session) {
  connect();
  auto closing = record<>();
  zk.async_close(closing.token());
  settle();
  BOOST_TEST(last().closing);
  BOOST_TEST(!closing.done());
  advance(5s);
  BOOST_TEST(closing.done());
  BOOST_TEST(!closing.error());
  BOOST_TEST(!last().open);
  BOOST_TEST((zk.status().state == session_state::closed));
  BOOST_TEST((zk.status().reason == errc::closed));
}

BOOST_AUTO_TEST_CASE(a_session_that_has_no_memory_for_its_end_has_ended_all_the_same) {
  fake_bench bench;
  poor_world* world = nullptr;
  const auto make_world = [&](asio::any_io_executor strand) {
    auto made = std::make_unique<poor_world>(bench.worlds()(std::move(strand)));
    world = made.get();
    return made;
  };
  session zk(detail::make_core(bench.io().get_executor(), fake_session::usual(), make_world));
  bench.settle();
  bench.accept(0x77);
  world->fails_at_end = true;
  recorder<> closing(bench.io().get_executor());
  zk.async_close(closing.token());
  bench.settle();
  bench.lose(errc::closed);
  bench.advance(1s);
  BOOST_TEST(!world->fails_at_end);
  BOOST_TEST(closing.done());
  BOOST_TEST((zk.status().state == session_state::closed));
}

BOOST_AUTO_TEST_CASE(the_last_copy_closes_the_session) {
  fake_session it;
  it.connect();
  auto copy = std::make_unique<session>(it.zk);
  it.zk = *copy;
  copy.reset();
  it.settle();
  BOOST_TEST(!it.last().closing);
  it.zk = it.make_session(fake_session::usual());
  it.settle();
  BOOST_TEST(it.state().connections.front()->closing);
}

// A resolver can take longer than a session lives. A session that knows its servers does not wait for it.
BOOST_FIXTURE_TEST_CASE(a_resolver_that_does_not_answer_costs_no_session_that_knows_its_servers, fake_session) {
  connect();
  state().resolver_hangs = true;
  lose();
  BOOST_TEST(state().connections.size() == 1u);
  advance(50ms);
  BOOST_TEST_REQUIRE(state().connections.size() == 2u);
  connect();
  BOOST_TEST((zk.status().state == session_state::connected));
}

// The server may let the next owner in while its answer to the close request is still on its way.
BOOST_FIXTURE_TEST_CASE(whoever_closes_believes_in_nothing_any_more_before_the_server_hears_of_it, fake_session) {
  connect();
  zkrecipes::lock over(zk, "/l");
  auto acquired = record<ownership>();
  over.async_acquire(acquired.token());
  settle();
  const auto name = last().pending.front().first.path.substr(3) + "0000000001";
  backend::reply made;
  made.path = "/l/" + name;
  made.stat.czxid = 7;
  answer(made);
  list({name});
  while (!pending().empty()) answer();  // the read of our own node
  BOOST_TEST_REQUIRE(acquired.done());
  auto& held = acquired.result<0>();
  BOOST_TEST_REQUIRE(!held.error(), held.error().message());
  BOOST_TEST((held.valid_until() > now()));
  auto lost = record<>();
  held.async_lost(lost.token());
  auto closing = record<>();
  zk.async_close(closing.token());
  settle();
  BOOST_TEST(last().closing);
  BOOST_TEST(!closing.done());
  BOOST_TEST((held.error() == errc::closed));
  BOOST_TEST((held.valid_until() <= now()));
  BOOST_TEST_REQUIRE(lost.done());
  BOOST_TEST((lost.error() == errc::closed));
  lose(errc::closed);
}

BOOST_AUTO_TEST_SUITE_END()
