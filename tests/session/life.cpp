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
  auto made = run(one.async_create("/mine", "", create_mode::ephemeral, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(made));
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
  auto made = run(one.async_create("/mine", "", create_mode::ephemeral, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(made));
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
  auto made = run(one.async_create("/mine", "", create_mode::ephemeral, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(made));
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
  auto held = run(first.async_campaign(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(held));
  auto claim = recorder<ownership>(executor());
  second.async_campaign(claim.token());
  BOOST_TEST(run_until([&] { return children("/e").size() == 2; }));
  cluster().expire(waiter.status().session_id);
  BOOST_TEST(run_until([&] { return claim.done(); }));
  BOOST_TEST(claim.error() == errc::session_expired);
  cluster().expire(holder.status().session_id);
  BOOST_TEST(run_until([&] { return std::get<1>(held).error() == errc::session_expired; }));
  BOOST_TEST(run_until([&] { return children("/e").empty(); }));
  remove("/e");
}

BOOST_AUTO_TEST_CASE(closing_removes_its_ephemerals_at_once) {
  {
    session one = connect();
    auto made = run(one.async_create("/mine", "", create_mode::ephemeral, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(made));
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
