#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>

#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/test/unit_test.hpp>

#include <testcluster/ensemble.hpp>
#include <testcluster/proxy.hpp>

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

using testcluster::ensemble_options;
using testcluster::detail::tcp;

namespace {

/// An environment variable for the length of a scope.
class setting {
 public:
  setting(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~setting() { ::unsetenv(name_); }
  setting(const setting&) = delete;
  setting& operator=(const setting&) = delete;

 private:
  const char* name_;
};

std::size_t entries(const std::filesystem::path& dir) {
  const auto all = std::filesystem::directory_iterator(dir);
  return std::distance(begin(all), end(all));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(one_server)

BOOST_AUTO_TEST_CASE(stands_alone_and_leaves_nothing) {
  std::optional<ensemble> cluster(std::in_place, ensemble_options{.servers = 1});
  const auto node = cluster->nodes().at(0);
  const auto dir = cluster->dir();
  BOOST_TEST(node.role == "standalone");
  BOOST_TEST(cluster->leader() == 1);
  BOOST_TEST(std::filesystem::exists(dir));
  cluster.reset();
  BOOST_TEST(!alive(node.pid));
  BOOST_TEST(!std::filesystem::exists(dir));
}

BOOST_AUTO_TEST_CASE(removes_only_what_it_made) {
  scratch place;
  {
    ensemble cluster({.servers = 1, .dir = place.path()});
    BOOST_TEST(cluster.dir() == place.path());
    std::ofstream(place.path() / "notes") << "mine";
  }
  BOOST_TEST(entries(place.path()) == 1u);
  const auto made = place.path() / "made";
  { ensemble cluster({.servers = 1, .dir = made}); }
  BOOST_TEST(!std::filesystem::exists(made));
}

BOOST_AUTO_TEST_CASE(options_reach_the_server) {
  ensemble cluster({.servers = 1,
                    .min_session_timeout = 300ms,
                    .max_session_timeout = 3s,
                    .four_letter_words = {},
                    .admin_server = true,
                    .extra_config = {"snapCount=1000"}});
  const auto node = cluster.nodes().at(0);
  BOOST_TEST(connect(node.address).session().timeout_ms == 3000);
  const auto server = testcluster::detail::parse_endpoint(node.address);
  const auto refused = testcluster::detail::four_letter_word(server, "mntr", clock_type::now() + 5s);
  BOOST_TEST(contains(refused, "whitelist"));
  testcluster::detail::connection admin(testcluster::detail::parse_endpoint(node.admin), clock_type::now() + 10s);
  admin.write("GET /commands/ruok HTTP/1.0\r\n\r\n");
  BOOST_TEST(contains(admin.read_all(1 << 20), "200 OK"));
}

BOOST_AUTO_TEST_CASE(moves_on_when_somebody_has_a_port) {
  boost::asio::io_context io;
  tcp::acceptor everywhere(io, tcp::endpoint(tcp::v4(), 0));  // takes a port on every address
  const auto taken = everywhere.local_endpoint().port();
  ensemble for_clients({.servers = 1, .base_port = taken});
  BOOST_TEST(for_clients.nodes().at(0).client_port > taken);
  const auto before = static_cast<std::uint16_t>(taken - 1);
  ensemble for_followers({.servers = 2, .base_port = before});
  BOOST_TEST(for_followers.nodes().at(0).client_port > taken);
}

BOOST_AUTO_TEST_CASE(a_failed_start_shows_the_log_and_leaves_nothing) {
  scratch place;
  const auto why =
      failure([&] { ensemble cluster({.servers = 1, .dir = place.path(), .extra_config = {"initLimit=many"}}); });
  BOOST_TEST(contains(why, "server 1 ended"));
  BOOST_TEST(contains(why, "many"));
  BOOST_TEST(entries(place.path()) == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_named) {
  const ensemble_options one{.servers = 1};
  {
    setting jar("TESTCLUSTER_ZOOKEEPER_JAR", "/nonexistent/zookeeper.jar");
    BOOST_TEST(contains(failure([&] { ensemble cluster(one); }), "apt-get install zookeeper"));
  }
  setting flags("TESTCLUSTER_JVM_FLAGS", "-Xmx64m -XX:NoSuchFlag");
  BOOST_TEST(contains(failure([&] { ensemble cluster(one); }), "NoSuchFlag"));
}

BOOST_AUTO_TEST_CASE(a_server_that_ends_by_itself_is_noticed) {
  ensemble cluster({.servers = 1});
  ::kill(cluster.nodes().at(0).pid, SIGKILL);
  BOOST_TEST(eventually([&] { return cluster.nodes().at(0).role == "stopped"; }));
  BOOST_TEST(!cluster.nodes().at(0).running);
  cluster.start(1);
  BOOST_TEST(cluster.nodes().at(0).role == "standalone");
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

std::string refusal(const std::function<void(ensemble_options&)>& spoil) {
  ensemble_options options;
  spoil(options);
  return failure([&] { ensemble unusable(options); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(every_refusal_names_the_field) {
  BOOST_TEST(contains(refusal([](auto& o) { o.servers = 0; }), "servers"));
  BOOST_TEST(contains(refusal([](auto& o) { o.servers = 10; }), "servers"));
  BOOST_TEST(contains(refusal([](auto& o) { o.observers = -1; }), "observers"));
  BOOST_TEST(contains(refusal([](auto& o) { o.observers = 7; }), "observers"));
  BOOST_TEST(contains(refusal([](auto& o) { o.heap_mib = 16; }), "heap_mib"));
  BOOST_TEST(contains(refusal([](auto& o) { o.tick_time = 0ms; }), "tick_time"));
  BOOST_TEST(contains(refusal([](auto& o) { o.init_limit = 0; }), "init_limit"));
  BOOST_TEST(contains(refusal([](auto& o) { o.sync_limit = 0; }), "sync_limit"));
  BOOST_TEST(contains(refusal([](auto& o) { o.min_session_timeout = -1ms; }), "min_session_timeout"));
  BOOST_TEST(contains(refusal([](auto& o) { o.max_session_timeout = -1ms; }), "max_session_timeout"));
  BOOST_TEST(contains(refusal([](auto& o) { o.four_letter_words = {"all"}; }), "four_letter_words"));
  BOOST_TEST(contains(refusal([](auto& o) { o.delay = 5ms; }), "delay_proxies"));
  BOOST_TEST(contains(refusal([](auto& o) { o.extra_config = {"a=1\nb=2"}; }), "extra_config"));
  for (const std::string line :
       {"foo", "=1", "a b", "# note", "clientPort=1", "clientPort = 1", "dataDir=/tmp/x", "peerType=observer",
        "secureClientPort=1", "server.4=a:1:2", "4lw.commands.whitelist=ruok"})
    BOOST_TEST(contains(refusal([&](auto& o) { o.extra_config = {line}; }), "extra_config"), line);
  BOOST_TEST(contains(refusal([](auto& o) { o.base_port = 80; }), "base_port"));
  BOOST_TEST(contains(refusal([](auto& o) { o.start_timeout = 0ms; }), "start_timeout"));
  BOOST_TEST(contains(refusal([](auto& o) {
                        o.min_session_timeout = 2s;
                        o.max_session_timeout = 1s;
                      }),
                      "min_session_timeout"));
}

BOOST_AUTO_TEST_CASE(a_directory_in_use_is_refused) {
  scratch place;
  std::filesystem::create_directory(place.path() / "mine");
  BOOST_TEST(contains(refusal([&](auto& o) { o.dir = place.path(); }), "not empty"));
  BOOST_TEST(std::filesystem::exists(place.path() / "mine"));
}

BOOST_AUTO_TEST_CASE(a_directory_that_can_not_be_made_is_an_error) {
  scratch place;
  BOOST_TEST(contains(refusal([&](auto& o) { o.dir = place.path() / "a" / "b"; }), "could not make"));
}

BOOST_AUTO_TEST_CASE(a_proxy_refuses_what_it_can_not_use) {
  using testcluster::proxy;
  BOOST_TEST(contains(failure([] { proxy unusable("localhost"); }), "localhost"));
  BOOST_TEST(contains(failure([] { proxy unusable("127.0.0.1:x"); }), "127.0.0.1:x"));
  BOOST_TEST(contains(failure([] { proxy unusable("127.0.0.1:1", {.delay = -1ms}); }), "delay"));
}

BOOST_AUTO_TEST_SUITE_END()
