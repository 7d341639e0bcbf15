// The events that a session outlives, and those that it does not.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/election.hpp>

#include "ensemble/print.hpp"
#include "support/fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct life_case : fixture {
  bool exists(const std::string& path) {
    catch_up(zk());
    return !std::get<0>(run(zk().async_exists(path, tuple)));
  }
  error_code look(session& which) { return std::get<0>(run(which.async_exists("/", tuple))); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(life, life_case)

BOOST_AUTO_TEST_CASE(it_outlives_the_restart_of_every_server_in_turn) {
  session one = connect();
  must(run(one.async_create("/mine", "", create_mode::ephemeral, tuple)));
  for (int id = 1; id <= server_count; ++id) {
    cluster().kill(id);
    BOOST_TEST(!look(one), "without server " << id);
    BOOST_TEST(server_of(one) != id);
    cluster().restart(id);
    BOOST_TEST(!look(one));
  }
  BOOST_TEST(one.status().incarnation == 1u);
  BOOST_TEST(exists("/mine"));
  BOOST_TEST(!std::get<0>(run(one.async_remove("/mine", any_version, tuple))));
}

BOOST_AUTO_TEST_CASE(it_takes_its_ephemerals_from_server_to_server) {
  session one = connect();
  must(run(one.async_create("/mine", "", create_mode::ephemeral, tuple)));
  std::set<int> servers;
  for (int i = 0; i < 100 && servers.size() < server_count; ++i) {
    const int server = server_of(one);
    servers.insert(server);
    const auto changes = one.status().changes;
    cluster().proxy(server).cut();
    BOOST_TEST(run_until([&] { return one.status().changes > changes; }));
    BOOST_TEST(!look(one));
  }
  BOOST_TEST(servers.size() == static_cast<std::size_t>(server_count), "the order of servers is drawn each time");
  BOOST_TEST(one.status().incarnation == 1u);
  BOOST_TEST(!std::get<0>(run(one.async_remove("/mine", any_version, tuple))));
}

BOOST_AUTO_TEST_CASE(an_expired_session_is_followed_by_a_new_incarnation) {
  session one = connect();
  must(run(one.async_create("/mine", "", create_mode::ephemeral, tuple)));
  const auto before = one.status();
  BOOST_TEST(before.incarnation == 1u);
  cluster().expire(before.session_id);
  BOOST_TEST(run_until([&] { return one.status().incarnation == 2; }));
  BOOST_TEST(!look(one));
  BOOST_TEST(one.status().session_id != before.session_id);
  BOOST_TEST(!exists("/mine"));
}

BOOST_AUTO_TEST_CASE(what_was_claimed_in_the_old_incarnation_fails_with_session_expired) {
  session holder = connect();
  session waiter = connect();
  create("/e");
  election first(holder, "/e", {.id = "first"});
  election second(waiter, "/e", {.id = "second"});
  auto held = must(run(first.async_campaign(tuple)));
  auto claim = recorder<ownership>(executor());
  second.async_campaign(claim.token());
  BOOST_TEST(run_until([&] { return children("/e").size() == 2; }));
  cluster().expire(waiter.status().session_id);
  BOOST_TEST(run_until([&] { return claim.done(); }));
  BOOST_TEST(claim.error() == errc::session_expired);
  cluster().expire(holder.status().session_id);
  BOOST_TEST(run_until([&] { return held.error() == errc::session_expired; }));
  BOOST_TEST(run_until([&] { return children("/e").empty(); }));
  remove("/e");
}

BOOST_AUTO_TEST_CASE(closing_removes_its_ephemerals_at_once) {
  {
    session one = connect();
    must(run(one.async_create("/mine", "", create_mode::ephemeral, tuple)));
    auto pending = recorder<node_data>(executor());
    one.async_data_change("/never", 0, pending.token());
    BOOST_TEST(!std::get<0>(run(one.async_close(tuple))));
    BOOST_TEST(pending.done());
    BOOST_TEST(pending.error() == errc::closed);
    BOOST_TEST(look(one) == errc::closed);
    BOOST_TEST((one.status().state == session_state::closed));
  }
  BOOST_TEST(!exists("/mine"));
}

BOOST_AUTO_TEST_CASE(a_write_whose_reply_is_lost_says_so_and_a_read_is_repeated) {
  create("/a");
  session one = connect();
  BOOST_TEST(!look(one));
  cluster().proxy(server_of(one)).drop_reply(5);  // setData
  BOOST_TEST(std::get<0>(run(one.async_set("/a", "x", any_version, tuple))) == errc::connection_loss);
  BOOST_TEST(get("/a").data == "x");
  BOOST_TEST(!look(one));
  const auto retries = one.counters().retries;
  cluster().proxy(server_of(one)).drop_reply(4);  // getData
  auto [error, node] = run(one.async_get("/a", tuple));
  BOOST_TEST(!error);
  BOOST_TEST(node.data == "x");
  BOOST_TEST(one.counters().retries == retries + 1);
  remove("/a");
}

BOOST_AUTO_TEST_CASE(a_change_that_happened_while_the_connection_was_away_is_told) {
  create("/a");
  session one = connect();
  auto changed = recorder<node_data>(executor());
  one.async_data_change("/a", get("/a").stat.mzxid, changed.token());
  BOOST_TEST(run_until([] { return watches_on_servers() == 1; }));
  for (int id = 1; id <= server_count; ++id) cluster().proxy(id).refuse(true);
  cluster().proxy(server_of(one)).cut();
  BOOST_TEST(run_until([&] { return one.status().state == session_state::suspended; }));
  auto options = this->options();
  options.hosts = join_hosts(direct_hosts());
  session another = connect(options);
  BOOST_TEST(!std::get<0>(run(another.async_set("/a", "x", any_version, tuple))));
  heal_proxies();
  BOOST_TEST(run_until([&] { return changed.done(); }));
  BOOST_TEST(!changed.error());
  BOOST_TEST(changed.result<0>().data == "x");
  remove("/a");
}

BOOST_AUTO_TEST_SUITE_END()

// The lease: a session is never believed in for longer than the servers keep it.

namespace {

constexpr auto timeout = 5s;  // a busy machine may keep this process from its heartbeats for some seconds

struct lease_case : fixture {
  session_options in(lease_mode mode, std::size_t server = 1) {
    auto with = options();
    with.hosts = proxy_hosts()[server - 1];
    with.lease = mode;
    with.timeout = timeout;
    return with;
  }

  /// The owner's belief must end before the server lets the next one in. The test itself sends nothing meanwhile.
  void ends_in_time(lease_mode mode) {
    create("/e");
    session first = connect(in(mode, 1));
    session second = connect(in(mode, 2));
    election holds(first, "/e", {.id = "holds"});
    election waits(second, "/e", {.id = "waits"});
    auto [error, held] = run(holds.async_campaign(tuple));
    BOOST_TEST_REQUIRE(!error);
    auto next = recorder<ownership>(executor());
    waits.async_campaign(next.token());
    BOOST_TEST(run_until([&] { return children("/e").size() == 2; }));

    // The session is idle for longer than its timeout, and heartbeats keep the lease.
    const auto grown = held.valid_until() + timeout;
    BOOST_TEST(run_until([&, &won = held] { return won.valid_until() > grown; }));
    BOOST_TEST(!held.error());

    cluster().proxy(1).freeze(true);
    BOOST_TEST(run_until([&] { return next.done(); }));
    BOOST_TEST(!next.error());
    BOOST_TEST((held.valid_until() < lease_clock::now()), "two believe at the same time");
    BOOST_TEST(bool(held.error()));
    heal_proxies();
    BOOST_TEST(!std::get<0>(run(next.result<0>().async_release(tuple))));
    BOOST_TEST(run_until([&] { return children("/e").empty(); }));
    remove("/e");
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(leases, lease_case)

BOOST_AUTO_TEST_CASE(a_belief_ends_before_the_successors_begins) { ends_in_time(lease_mode::standard); }
BOOST_AUTO_TEST_CASE(so_does_a_strict_one) { ends_in_time(lease_mode::strict); }

BOOST_AUTO_TEST_CASE(a_lease_counts_from_the_question_not_from_the_answer) {
  session one = connect(in(lease_mode::standard));
  const int server = server_of(one);
  cluster().proxy(server).freeze(true);
  auto late = recorder<node_data>(executor());
  one.async_get("/", late.token());
  const auto asked = lease_clock::now();
  BOOST_TEST(run_until([&] { return lease_clock::now() > asked + 300ms; }));
  cluster().proxy(server).freeze(false);
  BOOST_TEST(run_until([&] { return late.done(); }));
  BOOST_TEST(!late.error());
  BOOST_TEST((one.valid_until() <= asked + timeout - timeout / 10 + 50ms), "timeout less a tenth");
}

BOOST_AUTO_TEST_CASE(in_strict_mode_heartbeats_prolong_the_lease) {
  session one = connect(in(lease_mode::strict));
  BOOST_TEST(!std::get<0>(run(one.async_sync(tuple))));
  const auto before = one.valid_until();
  const auto beats = one.counters().heartbeats;
  BOOST_TEST(run_until([&] { return one.valid_until() > before; }));
  BOOST_TEST(one.counters().heartbeats > beats);
}

BOOST_AUTO_TEST_SUITE_END()
