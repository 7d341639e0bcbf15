// RabbitMQ for tests, and the command that starts it: what needs no client.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <boost/asio/ip/tcp.hpp>
#include <boost/test/unit_test.hpp>

#include <testcluster/rabbit_broker.hpp>

#include "commanded_broker.hpp"

using testcluster::rabbit_broker;

namespace {

namespace fs = std::filesystem;

/// A process and its descendants. RabbitMQ's helpers are in process groups of their own.
std::vector<pid_t> family(pid_t pid) {
  std::vector<pid_t> all{pid};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto id = std::to_string(all[i]);
    std::ifstream children("/proc/" + id + "/task/" + id + "/children");
    all.insert(all.end(), std::istream_iterator<pid_t>(children), std::istream_iterator<pid_t>());
  }
  return all;
}

bool have_ended(const std::vector<pid_t>& processes) {
  return eventually([&] { return std::none_of(processes.begin(), processes.end(), alive); });
}

unsigned mode_of(const fs::path& file) { return static_cast<unsigned>(fs::status(file).permissions()); }

std::string command_line(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The whole of a file in which there is one line.
std::string line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

/// Another folder of RabbitMQ's scripts for as long as it lives.
struct other_scripts {
  explicit other_scripts(const std::string& folder) { ::setenv("TESTCLUSTER_RABBITMQ", folder.c_str(), 1); }
  ~other_scripts() { ::unsetenv("TESTCLUSTER_RABBITMQ"); }
  other_scripts(const other_scripts&) = delete;
  other_scripts& operator=(const other_scripts&) = delete;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rabbit_brokers)

BOOST_AUTO_TEST_CASE(one_node_is_killed_stopped_and_started_and_leaves_nothing_behind) {
  fs::path dir;
  std::vector<pid_t> all;
  {
    rabbit_broker one;
    dir = one.dir();
    BOOST_TEST(one.nodes() == 1);
    BOOST_TEST(one.addresses() == one.address());
    BOOST_TEST(contains(failure([&] { one.start(); }), "start: node 1 runs"));
    const auto first = family(one.pid());
    BOOST_TEST(first.size() > 1u);
    one.kill();
    BOOST_TEST(!one.running());
    BOOST_TEST(one.pid() == 0);
    BOOST_TEST(have_ended(first));
    BOOST_TEST(contains(failure([&] { one.kill(); }), "kill: node 1 does not run"));
    one.start();
    BOOST_TEST(one.pid() != first.front());
    one.pause();
    one.stop();
    BOOST_TEST(contains(one.log(), "SIGTERM"));
    one.start_all();
    all = family(one.pid());
    one.pause();
  }
  BOOST_TEST(have_ended(all));
  BOOST_TEST(!fs::exists(dir));
}

BOOST_AUTO_TEST_CASE(secrets_are_in_files_of_the_owner_only) {
  rabbit_broker one({.user = "bob", .password = "open # \"sesame\"", .virtual_host = "orders"});
  const auto folder = one.dir() / "rabbitmq";
  BOOST_TEST(mode_of(folder) == 0700u);
  BOOST_TEST(mode_of(folder / "home" / ".erlang.cookie") == 0400u);
  BOOST_TEST(mode_of(folder / "node.1" / "rabbitmq.conf") == 0600u);
  BOOST_TEST(mode_of(folder / "node.1" / "advanced.config") == 0600u);
  BOOST_TEST(contains(one.log(), "Created user 'bob'"));
  BOOST_TEST(contains(one.log(), "Adding vhost 'orders'"));
  const auto words = command_line(one.pid());
  BOOST_TEST(contains(words, "rabbit@"));
  BOOST_TEST(!contains(words, "sesame"));
  const auto cookie = line_of(folder / "home" / ".erlang.cookie");
  BOOST_TEST(cookie.size() == 32u);
  BOOST_TEST(!contains(words, cookie));
}

BOOST_AUTO_TEST_CASE(bad_options_are_told) {
  BOOST_TEST(contains(failure([] { rabbit_broker({.nodes = 0}); }), "nodes: there must be 1 to 7"));
  BOOST_TEST(contains(failure([] { rabbit_broker({.nodes = 8}); }), "nodes: there must be 1 to 7"));
  BOOST_TEST(contains(failure([] { rabbit_broker({.user = ""}); }), "user: "));
  BOOST_TEST(contains(failure([] { rabbit_broker({.password = "a\nb"}); }), "password: "));
  BOOST_TEST(contains(failure([] { rabbit_broker({.virtual_host = std::string(128, 'v')}); }), "virtual_host: "));
  BOOST_TEST(contains(failure([] { rabbit_broker({.port = 45'536}); }), "port: it must be 1 to 45535"));
  BOOST_TEST(contains(failure([] { rabbit_broker({.start_timeout = 0ms}); }), "start_timeout: "));
}

BOOST_AUTO_TEST_CASE(what_rabbitmq_does_not_take_is_told_with_the_end_of_its_log) {
  scratch place;
  const auto dir = place.path() / "own";
  const auto words = failure([&] { rabbit_broker({.dir = dir, .extra_config = {"no_such_word = 1"}}); });
  BOOST_TEST(contains(words, "rabbitmq-server has ended; its log:\n"));
  BOOST_TEST(contains(words, "no_such_word"));
  BOOST_TEST(!fs::exists(dir));
}

BOOST_AUTO_TEST_CASE(a_missing_program_is_told_with_its_package) {
  scratch empty;
  const other_scripts missing(empty.path().string());
  const auto words = failure([] { rabbit_broker(); });
  BOOST_TEST(contains(words, empty.path().string() + "/rabbitmq-server"));
  BOOST_TEST(contains(words, "(Debian: apt-get install rabbitmq-server)"));
}

BOOST_AUTO_TEST_CASE(a_node_that_hangs_at_its_start_is_started_once_more) {
  scratch place;
  const auto script = place.path() / "rabbitmq-server";
  std::ofstream(script) << R"py(#!/usr/bin/env python3
import os, re, socket, time
began = os.environ["RABBITMQ_PID_FILE"]
if not os.path.exists(began):
  open(began, "w").close()
  time.sleep(600)
host, port = re.search(r"listeners.tcp.1 = (.*):(.*)", open(os.environ["RABBITMQ_CONFIG_FILE"]).read()).groups()
with socket.create_server((host, int(port))) as listener:
  while True:
    client, _ = listener.accept()
    client.recv(8)
    client.sendall(bytes([1, 0, 0, 0, 0, 0, 4, 0, 10, 0, 10]))
    client.close()
)py";
  fs::permissions(script, fs::perms::owner_all);
  const other_scripts own(place.path().string());
  rabbit_broker one({.start_timeout = 10s});
  BOOST_TEST(one.running());
  BOOST_TEST(contains(failure([&] { rabbit_broker({.start_timeout = 1ms}); }), "rabbitmq-server does not answer"));
}

/// The second node answers only when it is started once more, and the third one then refuses the first who asks.
BOOST_AUTO_TEST_CASE(a_node_behind_one_that_hangs_has_time_of_its_own) {
  scratch place;
  const auto script = place.path() / "rabbitmq-server";
  std::ofstream(script) << R"py(#!/usr/bin/env python3
import os, re, socket, time
config = os.environ["RABBITMQ_CONFIG_FILE"]
node = re.search(r"node\.(\d)", config).group(1)
starts = os.path.join(os.path.dirname(os.path.abspath(__file__)), "starts." + node)
with open(starts, "a") as file:
  file.write("x")
count = os.path.getsize(starts)
if node == "2" and count == 1:
  time.sleep(600)
host, port = re.search(r"listeners.tcp.1 = (.*):(.*)", open(config).read()).groups()
with socket.create_server((host, int(port))) as listener:
  refuses = node == "3"
  while True:
    client, _ = listener.accept()
    if not refuses:
      client.recv(8)
      client.sendall(bytes([1, 0, 0, 0, 0, 0, 4, 0, 10, 0, 10]))
    refuses = False
    client.close()
)py";
  fs::permissions(script, fs::perms::owner_all);
  const other_scripts own(place.path().string());
  const auto words = failure([] { rabbit_broker({.nodes = 3, .start_timeout = 6s}); });
  BOOST_TEST(contains(words, "not every node knows in time"), words);  // they are no nodes of RabbitMQ
  BOOST_TEST(line_of(place.path() / "starts.2") == "xx");
  BOOST_TEST(line_of(place.path() / "starts.3") == "x");
}

BOOST_AUTO_TEST_CASE(an_occupied_port_is_told) {
  using boost::asio::ip::tcp;
  boost::asio::io_context io;
  tcp::acceptor occupier(io, tcp::v4());
  occupier.set_option(tcp::acceptor::reuse_address(true));
  std::uint16_t port = 7'000;
  boost::system::error_code taken = boost::asio::error::address_in_use;
  for (; taken; ++port) occupier.bind({tcp::v4(), port}, taken);
  --port;
  occupier.listen();
  const auto words = failure([&] { rabbit_broker({.port = port}); });
  BOOST_TEST(contains(words, "port: could not listen at 127."));
  BOOST_TEST(contains(words, ":" + std::to_string(port) + ": Address already in use"));
}

BOOST_AUTO_TEST_CASE(the_command_takes_orders_and_no_process_outlives_its_kill) {
  commanded_broker command({"rabbitmq"}, 120s);
  const auto first = command.broker();
  BOOST_TEST_REQUIRE(alive(first));
  command.order("dance");
  command.order("kill 2");
  command.order("kill x");
  command.order("leader orders");
  command.order("kill");
  BOOST_TEST_REQUIRE(eventually([&] { return command.broker() == 0; }));
  BOOST_TEST(!alive(first));
  BOOST_TEST(contains(command.said(), "there is no order \"dance\""));
  BOOST_TEST(contains(command.said(), "there is no node 2, there are 1 to 1"));
  BOOST_TEST(contains(command.said(), "\"x\" is not the number of a node"));
  BOOST_TEST(contains(command.said(), "orders has no leader"));
  command.order("start");
  BOOST_TEST_REQUIRE(eventually([&] { return command.broker() != 0; }, 120s));
  const auto all = family(command.broker());
  BOOST_TEST(all.size() > 1u);
  command.kill();
  BOOST_TEST(have_ended(all));
}

BOOST_AUTO_TEST_SUITE_END()
