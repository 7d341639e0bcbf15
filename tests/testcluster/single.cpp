#include <cstdlib>
#include <fstream>
#include <optional>

#include <sys/socket.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/test/unit_test.hpp>

#include <testcluster/proxy.hpp>

#include "support.hpp"

using testcluster::ensemble;
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
