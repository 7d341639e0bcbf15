// Faults between real servers.
#include <optional>

#include <boost/test/unit_test.hpp>

#include <testcluster/proxy.hpp>

#include "jute/messages.hpp"
#include "proxy_link.hpp"
#include "support.hpp"

using testcluster::ensemble;
using testcluster::peer_port;
namespace jute = testcluster::jute;

namespace {

/// Three servers with proxies between them, for the whole suite; every case leaves them serving.
class linked_servers {
 public:
  static ensemble& get() { return *current(); }
  linked_servers() {
    current().emplace(testcluster::ensemble_options{
        .tick_time = 200ms, .sync_limit = 10, .delay_proxies = true, .peer_proxies = true});
  }
  ~linked_servers() { current().reset(); }

 private:
  static std::optional<ensemble>& current() {
    static std::optional<ensemble> cluster;
    return cluster;
  }
};

ensemble& cluster() { return linked_servers::get(); }

testcluster::node_info linked_node(int id) { return cluster().nodes().at(id - 1); }

bool writes(int id, std::chrono::milliseconds time_limit = 10s) {
  try {
    auto client = connect(linked_node(id).address, time_limit);
    client.create("/probe-" + std::to_string(client.session().id), "", jute::ephemeral);
    client.close();
    return true;
  } catch (const testcluster::error&) {
    return false;
  }
}

void heal_all() {
  cluster().heal();
  cluster().wait_serving();
  for (int id = 1; id <= 3; ++id) {
    BOOST_TEST(linked_node(id).faults.empty());
    BOOST_TEST(writes(id));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(partitions, *boost::unit_test::fixture<linked_servers>())

BOOST_AUTO_TEST_CASE(all_that_servers_say_to_each_other_passes_through_proxies) {
  cluster().restart(1);  // it connects to the others, and they call it back
  const int leader = cluster().leader();
  for (int id = 1; id <= 3; ++id) {
    if (id != leader) BOOST_TEST(cluster().peer_proxy(id, leader, peer_port::quorum).connections() == 1u);
    for (int lower = 1; lower < id; ++lower) {
      BOOST_TEST(cluster().peer_proxy(id, lower, peer_port::election).connections() == 1u);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_follower_cut_off_answers_reads_until_it_notices_and_comes_back) {
  const int leader = cluster().leader();
  const int follower = other_than(leader);
  auto there = connect(linked_node(follower).address);
  cluster().partition(follower, leader);
  connect(linked_node(leader).address).create("/unseen", "", 0);
  BOOST_TEST(!there.exists("/unseen"));
  BOOST_TEST(!writes(follower, 500ms));
  BOOST_TEST(eventually([&] { return linked_node(follower).role == "looking"; }));
  BOOST_TEST(writes(leader));
  BOOST_TEST(cluster().leader() == leader);
  heal_all();
  BOOST_TEST(connect(linked_node(follower).address).exists("/unseen"));
}

BOOST_AUTO_TEST_CASE(a_leader_cut_off_is_replaced) {
  const int old = cluster().leader();
  cluster().partition(old);
  BOOST_TEST(eventually([&] { return linked_node(old).role == "looking"; }));
  const int now = cluster().leader();
  BOOST_TEST(now != old);
  BOOST_TEST(writes(now));
  BOOST_TEST(!writes(old, 500ms));
  heal_all();
  BOOST_TEST(linked_node(old).role == "follower");
}

BOOST_AUTO_TEST_CASE(a_black_hole_is_noticed_and_slow_links_are_not_broken) {
  const int leader = cluster().leader();
  const int follower = other_than(leader);
  auto& link = cluster().peer_proxy(follower, leader, peer_port::quorum);
  link.set_delay(50ms);
  BOOST_TEST((linked_node(follower).faults ==
              std::vector<std::string>{"to server " + std::to_string(leader) + " (quorum): delay 50 ms"}));
  const auto start = clock_type::now();
  BOOST_TEST(writes(follower));
  BOOST_TEST(
      (clock_type::now() - start >= 3 * 100ms));  // create session, create node, close session: each needs the leader
  link.blackhole(testcluster::proxy::way::to_server);
  BOOST_TEST(eventually([&] { return linked_node(follower).role == "looking"; }));
  heal_all();
  BOOST_TEST(linked_node(follower).role == "follower");
}

BOOST_AUTO_TEST_CASE(a_link_that_is_cut_is_made_again) {
  const int leader = cluster().leader();
  const int follower = other_than(leader);
  auto& link = cluster().peer_proxy(follower, leader, peer_port::quorum);
  link.refuse(true);
  link.cut();
  BOOST_TEST(eventually([&] { return linked_node(follower).role == "looking"; }));
  heal_all();
  BOOST_TEST(link.connections() == 1u);
}

BOOST_AUTO_TEST_CASE(what_can_not_be_done_between_servers_is_said) {
  BOOST_TEST(contains(failure([] { cluster().partition(1, 1); }), "name two"));
  BOOST_TEST(contains(failure([] { cluster().partition(4); }), "no server 4"));
  BOOST_TEST(contains(failure([] { cluster().peer_proxy(1, 5, peer_port::quorum); }), "no server 5"));
  BOOST_TEST(contains(failure([] { cluster().heal(0); }), "no server 0"));
  BOOST_TEST(contains(failure([] { cluster().peer_proxy(1, 2, peer_port::election).drop_reply(1); }), "use cut"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(election_greetings)

namespace {

std::string greeting(const std::string& address) {
  return jute::writer{}.int64(-65536).int64(2).string(address).frame().substr(4);
}

std::string passed(testcluster::detail::election_greeting& through, const std::string& bytes) {
  std::string all;
  for (char byte : bytes) all += through.pass(std::string_view(&byte, 1));
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_address_is_replaced_once_however_it_is_chopped) {
  testcluster::detail::election_greeting rewriting("127.0.0.9:1");
  const std::string later = greeting("127.0.0.3:3");
  BOOST_TEST(passed(rewriting, greeting("127.0.0.2:2345") + later) == greeting("127.0.0.9:1") + later);
}

BOOST_AUTO_TEST_CASE(everything_else_passes) {
  testcluster::detail::election_greeting rewriting("127.0.0.9:1"), idle("");
  const std::string other(40, '\xff');
  BOOST_TEST(passed(rewriting, other) == other);
  BOOST_TEST(passed(idle, greeting("127.0.0.2:2")) == greeting("127.0.0.2:2"));
  testcluster::detail::election_greeting cut_short("127.0.0.9:1");
  BOOST_TEST(passed(cut_short, "short") == "");
  BOOST_TEST(cut_short.rest() == "short");
}

BOOST_AUTO_TEST_SUITE_END()
