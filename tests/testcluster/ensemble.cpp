#include <algorithm>
#include <optional>
#include <set>

#include <boost/test/unit_test.hpp>

#include <testcluster/ensemble.hpp>

#include "jute/messages.hpp"
#include "support.hpp"

using testcluster::ensemble;

namespace {

/// One ensemble of three for the whole suite; every case leaves it serving.
class shared_ensemble {
 public:
  static ensemble& get() { return *current(); }
  shared_ensemble() { current().emplace(); }
  ~shared_ensemble() { current().reset(); }

 private:
  static std::optional<ensemble>& current() {
    static std::optional<ensemble> cluster;
    return cluster;
  }
};

std::string role(int id) { return shared_ensemble::get().nodes().at(id - 1).role; }

std::string address(int id) { return shared_ensemble::get().nodes().at(id - 1).address; }

}  // namespace

BOOST_AUTO_TEST_SUITE(three_servers, *boost::unit_test::fixture<shared_ensemble>())

BOOST_AUTO_TEST_CASE(all_serve_and_one_leads) {
  auto& cluster = shared_ensemble::get();
  std::multiset<std::string> roles;
  std::string hosts;
  for (const auto& node : cluster.nodes()) {
    roles.insert(node.role);
    hosts += (hosts.empty() ? "" : ",") + node.address;
    BOOST_TEST(node.running);
    BOOST_TEST(alive(node.pid));
    BOOST_TEST(node.address.ends_with(":" + std::to_string(node.client_port)));
  }
  BOOST_TEST(roles.count("leader") == 1u);
  BOOST_TEST(roles.count("follower") == 2u);
  BOOST_TEST(cluster.hosts() == hosts);
  BOOST_TEST(role(cluster.leader()) == "leader");
}

BOOST_AUTO_TEST_CASE(another_one_leads_when_the_leader_is_killed) {
  auto& cluster = shared_ensemble::get();
  const int first = cluster.leader();
  const auto pid = cluster.nodes().at(first - 1).pid;
  cluster.kill(first);
  BOOST_TEST(!alive(pid));
  BOOST_TEST(role(first) == "stopped");
  const int second = cluster.leader();
  BOOST_TEST(second != first);
  cluster.start(first);
  BOOST_TEST(role(first) == "follower");
  BOOST_TEST(contains(failure([&] { cluster.start(first); }), "runs already"));
}

BOOST_AUTO_TEST_CASE(a_paused_leader_is_replaced_and_comes_back) {
  auto& cluster = shared_ensemble::get();
  const int first = cluster.leader();
  cluster.pause(first);
  BOOST_TEST(role(first) == "paused");
  BOOST_TEST(cluster.leader() != first);
  cluster.resume(first);
  cluster.wait_serving();
  BOOST_TEST(role(first) == "follower");
  BOOST_TEST(contains(failure([&] { cluster.resume(first); }), "not paused"));
}

BOOST_AUTO_TEST_CASE(a_restarted_server_has_what_it_had) {
  auto& cluster = shared_ensemble::get();
  const int id = other_than(cluster.leader());
  auto before = connect(address(id));
  before.create("/kept", "", 0);
  const auto pid = cluster.nodes().at(id - 1).pid;
  cluster.restart(id);
  BOOST_TEST(!alive(pid));
  auto after = connect(address(id));
  BOOST_TEST(after.exists("/kept"));
}

BOOST_AUTO_TEST_CASE(too_few_servers_are_reported_at_once) {
  auto& cluster = shared_ensemble::get();
  cluster.kill(1);
  cluster.kill(2);
  BOOST_TEST(contains(failure([&] { cluster.wait_serving(); }), "only 1 of 3"));
  BOOST_TEST(contains(failure([&] { cluster.kill(1); }), "not running"));
  cluster.start(1);
  cluster.start(2);
  BOOST_TEST(role(2) != "looking");
  BOOST_TEST(cluster.leader() > 0);
}

BOOST_AUTO_TEST_CASE(expire_ends_exactly_that_session) {
  auto& cluster = shared_ensemble::get();
  auto victim = connect(address(1));
  auto bystander = connect(address(2));
  victim.create("/victim", "", testcluster::jute::ephemeral);
  bystander.create("/bystander", "", testcluster::jute::ephemeral);
  cluster.expire(victim.session().id);
  BOOST_TEST(eventually([&] { return !bystander.exists("/victim"); }));
  BOOST_TEST(bystander.exists("/bystander"));
  BOOST_TEST(!failure([&] { victim.exists("/"); }).empty());
  BOOST_TEST(contains(failure([&] { cluster.expire(victim.session().id); }), "no session"));
  bystander.close();
}

BOOST_AUTO_TEST_CASE(unknown_servers_are_named) {
  auto& cluster = shared_ensemble::get();
  BOOST_TEST(contains(failure([&] { cluster.kill(4); }), "no server 4"));
  BOOST_TEST(contains(failure([&] { cluster.start(0); }), "no server 0"));
  BOOST_TEST(contains(failure([&] { cluster.proxy(1); }), "delay_proxies"));
}

BOOST_AUTO_TEST_SUITE_END()
