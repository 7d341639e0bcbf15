// Every operation can be cancelled while it waits for its answer, and leaves nothing behind.
#include <boost/test/unit_test.hpp>

#include "ensemble/print.hpp"
#include "support/fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
