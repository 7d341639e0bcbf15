// Every request against a real server, with each error that the header promises.
#include <algorithm>

#include <boost/test/unit_test.hpp>

#include "ensemble/print.hpp"
#include "support/fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct request_case : fixture {
  error_code create_error(const std::string& path, create_mode mode, acl access = {}) {
    return std::get<0>(run(zk().async_create(path, "", mode, std::move(access), tuple)));
  }
  error_code remove_error(const std::string& path, std::int32_t version = any_version) {
    return std::get<0>(run(zk().async_remove(path, version, tuple)));
  }
  error_code get_error(const std::string& path) { return std::get<0>(run(zk().async_get(path, tuple))); }
  std::tuple<error_code, std::vector<operation_result>> commit(transaction operations) {
    return run(zk().async_commit(std::move(operations), tuple));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(requests, request_case)

BOOST_AUTO_TEST_CASE(a_node_is_created_read_written_and_removed) {
  auto [create_error, made] = run(zk().async_create("/a", "one", create_mode::persistent, tuple));
  BOOST_TEST_REQUIRE(!create_error);
  BOOST_TEST(made.path == "/a");
  auto [get_error, node] = run(zk().async_get("/a", tuple));
  BOOST_TEST(!get_error);
  BOOST_TEST(node.data == "one");
  BOOST_TEST(node.stat.czxid == made.stat.czxid);
  auto [set_error, after] = run(zk().async_set("/a", "two", 0, tuple));
  BOOST_TEST(!set_error);
  BOOST_TEST(after.version == 1);
  BOOST_TEST(std::get<0>(run(zk().async_set("/a", "three", 0, tuple))) == errc::bad_version);
  auto [exists_error, present] = run(zk().async_exists("/a", tuple));
  BOOST_TEST(!exists_error);
  BOOST_TEST((present == after));
  BOOST_TEST(remove_error("/a", 0) == errc::bad_version);
  BOOST_TEST(!remove_error("/a", 1));
}

BOOST_AUTO_TEST_CASE(any_bytes_and_none_are_data) {
  const std::string bytes("\0\xff/\n", 4);
  create("/a", bytes);
  BOOST_TEST((get("/a").data == bytes));
  BOOST_TEST(!std::get<0>(run(zk().async_set("/a", "", any_version, tuple))));
  BOOST_TEST(get("/a").data.empty());
  remove("/a");
}

BOOST_AUTO_TEST_CASE(what_is_missing_or_in_the_way_is_told) {
  BOOST_TEST(get_error("/none") == errc::no_node);
  BOOST_TEST(remove_error("/none") == errc::no_node);
  BOOST_TEST(std::get<0>(run(zk().async_set("/none", "", any_version, tuple))) == errc::no_node);
  BOOST_TEST(std::get<0>(run(zk().async_exists("/none", tuple))) == errc::no_node);
  BOOST_TEST(std::get<0>(run(zk().async_children("/none", tuple))) == errc::no_node);
  BOOST_TEST(std::get<0>(run(zk().async_get_acl("/none", tuple))) == errc::no_node);
  BOOST_TEST(std::get<0>(run(zk().async_children_change("/none", 0, tuple))) == errc::no_node);
  BOOST_TEST(create_error("/none/below", create_mode::persistent) == errc::no_node);
  create("/a");
  BOOST_TEST(create_error("/a", create_mode::persistent) == errc::node_exists);
  create("/a/child", "", create_mode::ephemeral);
  BOOST_TEST(remove_error("/a") == errc::not_empty);
  BOOST_TEST(create_error("/a/child/below", create_mode::persistent) == errc::no_children_for_ephemerals);
  BOOST_TEST(children("/a") == std::vector<std::string>{"child"});
  BOOST_TEST(get("/a/child").stat.ephemeral_owner == zk().status().session_id);
  remove("/a/child");
  remove("/a");
}

BOOST_AUTO_TEST_CASE(sequential_nodes_tell_their_numbers) {
  create("/a");
  for (auto mode : {create_mode::persistent_sequential, create_mode::ephemeral_sequential}) {
    auto [error, made] = run(zk().async_create("/a/n-", "", mode, tuple));
    BOOST_TEST(!error);
    BOOST_TEST(made.path == (mode == create_mode::persistent_sequential ? "/a/n-0000000000" : "/a/n-0000000001"));
    BOOST_TEST((made.stat.ephemeral_owner != 0) == (mode == create_mode::ephemeral_sequential));
  }
  remove("/a/n-0000000000");
  remove("/a/n-0000000001");
  remove("/a");
}

BOOST_AUTO_TEST_CASE(missing_parents_are_made_and_those_that_exist_are_no_error) {
  for (int i = 0; i < 2; ++i) {
    auto made = run(zk().async_ensure_path("/a/b/c", tuple));
    BOOST_TEST(!std::get<0>(made));
  }
  for (auto path : {"/a/b/c", "/a/b", "/a"}) remove(path);
}

BOOST_AUTO_TEST_CASE(a_transaction_happens_as_a_whole_or_says_which_operation_failed) {
  auto [error, results] = commit(transaction()
                                     .create("/a", "x")
                                     .create("/a/n-", "", create_mode::persistent_sequential)
                                     .set("/a", "y", 0)
                                     .check("/a", 1));
  BOOST_TEST_REQUIRE(!error);
  BOOST_TEST(results[1].path == "/a/n-0000000000");
  BOOST_TEST(results[2].stat.version == 1);
  std::tie(error, results) = commit(transaction().create("/b").check("/a", 7).remove("/a/n-0000000000"));
  BOOST_TEST(error == errc::bad_version);
  BOOST_TEST_REQUIRE(results.size() == 3u);
  BOOST_TEST(results[0].error == errc::rolled_back);
  BOOST_TEST(results[1].error == errc::bad_version);
  BOOST_TEST(results[2].error == errc::rolled_back);
  BOOST_TEST(get_error("/b") == errc::no_node);
  std::tie(error, results) = commit(transaction().remove("/a/n-0000000000").remove("/a", 1));
  BOOST_TEST(!error);
}

BOOST_AUTO_TEST_CASE(a_transaction_without_operations_changes_nothing) {
  auto [error, results] = commit({});
  BOOST_TEST(!error);
  BOOST_TEST(results.empty());
}

// The case needs a follower: the leader tells its followers of a change before it makes the change itself, and answers
// a `sync` in between.
BOOST_AUTO_TEST_CASE(after_a_sync_a_follower_shows_what_another_server_wrote) {
  create("/a");
  auto options = this->options();
  const int leader = cluster().leader();
  int follower = 1;
  while (follower == leader || follower == server_of(zk())) ++follower;
  options.hosts = proxy_hosts()[static_cast<std::size_t>(follower - 1)];
  session other = connect(options);
  for (int i = 1; i <= 50; ++i) {
    auto written = run(zk().async_set("/a", std::to_string(i), any_version, tuple));
    BOOST_TEST(!std::get<0>(written));
    auto synced = run(other.async_sync(tuple));
    BOOST_TEST(!std::get<0>(synced));
    auto [error, seen] = run(other.async_get("/a", tuple));
    BOOST_TEST(seen.data == std::to_string(i));
  }
  remove("/a");
}

BOOST_AUTO_TEST_CASE(requests_are_pipelined_and_executed_in_order) {
  create("/a");
  const int server = server_of(zk());
  cluster().proxy(server).freeze(true);
  std::vector<recorder<node_stat>> writes;
  for (int i = 0; i < 100; ++i) {
    writes.emplace_back(executor());
    zk().async_set("/a", std::to_string(i), i, writes.back().token());
  }
  const auto sent = zk().counters().requests;
  BOOST_TEST(run_until([&] { return zk().counters().requests >= sent + 100; }), "none waits for an answer");
  cluster().proxy(server).freeze(false);
  BOOST_TEST(run_until([&] { return writes.back().done(); }));
  for (auto& each : writes) BOOST_TEST((each.done() && !each.error()), "in the order of the calls");
  BOOST_TEST(get("/a").data == "99");
  remove("/a");
}

BOOST_AUTO_TEST_CASE(a_change_is_told_with_the_present_state) {
  auto appears = recorder<node_data>(executor());
  zk().async_data_change("/a", 0, appears.token());
  create("/a", "one");
  BOOST_TEST(run_until([&] { return appears.done(); }));
  BOOST_TEST(!appears.error());
  auto seen = get("/a").stat;
  auto changes = recorder<node_data>(executor());
  auto grows = recorder<node_children>(executor());
  zk().async_data_change("/a", seen.mzxid, changes.token());
  zk().async_children_change("/a", seen.pzxid, grows.token());
  create("/a/b");
  BOOST_TEST(run_until([&] { return grows.done(); }));
  BOOST_TEST(grows.result<0>().names == std::vector<std::string>{"b"});
  BOOST_TEST(!changes.done());
  remove("/a/b");
  remove("/a");
  BOOST_TEST(run_until([&] { return changes.done(); }));
  BOOST_TEST(changes.error() == errc::no_node);
}

BOOST_AUTO_TEST_CASE(a_tree_is_made_with_its_parents_and_removed_with_its_children) {
  for (int i = 0; i < 250; ++i) {
    const auto path = "/tree/" + std::to_string(i % 5) + "/leaf" + std::to_string(i);
    auto [error, made] = run(zk().async_create_with_parents(path, "x", create_mode::persistent, tuple));
    BOOST_TEST_REQUIRE(!error);
    BOOST_TEST(made.path == path);
  }
  auto again = zk().async_create_with_parents("/tree/0/leaf0", "x", create_mode::persistent, tuple);
  BOOST_TEST(std::get<0>(run(std::move(again))) == errc::node_exists);
  auto [error, removed] = run(zk().async_remove_with_children("/tree", tuple));
  BOOST_TEST(!error);
  BOOST_TEST(removed == 256u);
  BOOST_TEST(get_error("/tree") == errc::no_node);
}

BOOST_AUTO_TEST_SUITE_END()

// Every operation can be cancelled while it waits for its answer, and leaves nothing behind.

namespace {

struct cancel_case : fixture {
  /// Starts the operation on a frozen connection, cancels it, and checks that the session goes on.
  template <class... Results, class Start>
  void cancels(Start start) {
    for (auto type :
         {asio::cancellation_type::total, asio::cancellation_type::partial, asio::cancellation_type::terminal}) {
      const int server = server_of(zk());
      cluster().proxy(server).freeze(true);
      auto result = recorder<Results...>(executor());
      const auto sent = zk().counters().requests;
      start(result.token());
      BOOST_TEST(run_until([&] { return zk().counters().requests > sent; }));
      BOOST_TEST(!result.done());
      result.cancel(type);
      BOOST_TEST(!result.done(), "never inside the call");
      BOOST_TEST(run_until([&] { return result.done(); }, 5s));
      BOOST_TEST(result.error() == asio::error::operation_aborted);
      heal_proxies();
      auto after = run(zk().async_sync(tuple));
      BOOST_TEST(!std::get<0>(after));
      BOOST_TEST(result.calls() == 1);
    }
    BOOST_TEST(zk().status().incarnation == 1u);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cancellation, cancel_case)

BOOST_AUTO_TEST_CASE(of_reads) {
  cancels<node_data>([&](auto token) { zk().async_get("/", token); });
  cancels<node_stat>([&](auto token) { zk().async_exists("/", token); });
  cancels<node_children>([&](auto token) { zk().async_children("/", token); });
  cancels<acl>([&](auto token) { zk().async_get_acl("/", token); });
  cancels<>([&](auto token) { zk().async_sync(token); });
}

BOOST_AUTO_TEST_CASE(of_writes_which_may_take_effect) {
  create("/a");
  cancels<node_stat>([&](auto token) { zk().async_set("/a", "x", any_version, token); });
  BOOST_TEST(get("/a").data == "x", "they were sent");
  cancels<>([&](auto token) { zk().async_set_acl("/a", open_acl(), any_version, token); });
  cancels<>([&](auto token) { zk().async_remove("/none", any_version, token); });
  cancels<created_node>([&](auto token) { zk().async_create("/a", "", create_mode::persistent, token); });
  cancels<>([&](auto token) { zk().async_ensure_path("/a", token); });
  cancels<std::vector<operation_result>>([&](auto token) { zk().async_commit(transaction().check("/a"), token); });
  remove("/a");
}

BOOST_AUTO_TEST_CASE(of_added_credentials) {
  cancels<>([&](auto token) { zk().async_add_credentials({"user", "secret"}, token); });
}

BOOST_AUTO_TEST_CASE(of_watches) {
  cancels<node_data>([&](auto token) { zk().async_data_change("/never", 0, token); });
  const auto seen = get("/").stat.pzxid;
  cancels<node_children>([&](auto token) { zk().async_children_change("/", seen, token); });
}

BOOST_AUTO_TEST_CASE(of_waiting_for_the_session) {
  auto with = options();
  with.hosts = "127.0.0.1:1";
  session nowhere = connect(with);
  auto connected = recorder<>(executor());
  auto changed = recorder<session_status>(executor());
  auto read = recorder<node_data>(executor());
  nowhere.async_connected(connected.token());
  nowhere.async_status_change(1'000'000, changed.token());
  nowhere.async_get("/", read.token());
  run_until([&] { return nowhere.status().changes > 0; }, 100ms);
  connected.cancel();
  changed.cancel();
  read.cancel();
  BOOST_TEST(run_until([&] { return connected.done() && changed.done() && read.done(); }, 5s));
  BOOST_TEST(connected.error() == asio::error::operation_aborted);
  BOOST_TEST(changed.error() == asio::error::operation_aborted);
  BOOST_TEST(read.error() == asio::error::operation_aborted);
}

BOOST_AUTO_TEST_SUITE_END()
