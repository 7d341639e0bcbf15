// Faults injected into a cluster of another process.
#include <stdexcept>

#include <boost/test/unit_test.hpp>

#include "command.hpp"
#include "support.hpp"

namespace json = boost::json;

namespace {

using words = std::vector<std::string>;

/// A cluster with proxies that was brought up by the command, for the whole suite; every case leaves it
/// healed.
class commanded_cluster {
 public:
  commanded_cluster() {
    const auto up = shell().run({"up", "-n", "3", "--tick", "200", "--sync-limit", "10", "--proxies", "-o", "json"});
    BOOST_TEST_REQUIRE(up.exit_code == 0, up.err);
  }
  ~commanded_cluster() { shell().run({"down"}); }
  static command& shell() {
    static command only;
    return only;
  }
};

json::object answer(words arguments) {
  arguments.insert(arguments.end(), {"-o", "json"});
  const auto done = commanded_cluster::shell().run(arguments);
  BOOST_TEST_REQUIRE(done.exit_code == 0, done.err);
  return done.json();
}

std::string refusal(const words& arguments, int exit_code) {
  const auto done = commanded_cluster::shell().run(arguments);
  BOOST_TEST(done.exit_code == exit_code);
  return done.err;
}

json::object node(int id) {
  const auto status = answer({"status"});
  return status.at("nodes").as_array().at(id - 1).as_object();
}

std::string text(const json::object& from, const char* key) { return std::string(from.at(key).as_string()); }

int with_role(const std::string& role) {
  for (int id = 1; id <= 3; ++id) {
    if (text(node(id), "role") == role) return id;
  }
  throw std::runtime_error("nobody is " + role);
}

words faults(const json::object& of) {
  return of.contains("faults") ? json::value_to<words>(of.at("faults")) : words{};
}

zk_client client_of(int id, std::chrono::milliseconds time_limit = 10s) {
  return connect(text(node(id), "proxy"), time_limit);
}

void heal() {
  const auto healed = answer({"heal"});
  for (int id = 1; id <= 3; ++id) {
    const auto& each = healed.at("nodes").as_array().at(id - 1).as_object();
    BOOST_TEST(!each.contains("faults"));
    BOOST_TEST(connect(text(each, "proxy")).exists("/"));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(commanded_faults, *boost::unit_test::fixture<commanded_cluster>())

BOOST_AUTO_TEST_CASE(a_frozen_line_keeps_clients_waiting) {
  BOOST_TEST((faults(answer({"fault", "freeze", "1"})) == words{"clients: freeze"}));
  BOOST_TEST((faults(node(1)) == words{"clients: freeze"}));
  BOOST_TEST(contains(commanded_cluster::shell().run({"status"}).out, "clients: freeze"));
  BOOST_TEST(contains(failure([] { client_of(1, 500ms); }), "in time"));
  BOOST_TEST(client_of(2).exists("/"));
  heal();
}

BOOST_AUTO_TEST_CASE(connections_are_closed_at_one_or_both_sides) {
  auto client = client_of(1);
  answer({"fault", "cut", "1"});
  BOOST_TEST(!failure([&] { client.exists("/"); }).empty());
  auto half = client_of(1);
  BOOST_TEST((faults(answer({"fault", "half-open", "1", "--closed", "client"})) == words{"clients: half-open"}));
  BOOST_TEST(!failure([&] { half.exists("/"); }).empty());
  answer({"fault", "refuse", "1"});
  BOOST_TEST(contains(failure([] { client_of(1); }), "refused"));
  heal();
}

BOOST_AUTO_TEST_CASE(slow_lines_and_black_holes) {
  answer({"fault", "delay", "1", "40"});
  answer({"fault", "bandwidth", "1", "5000"});
  const auto all = faults(answer({"fault", "blackhole", "1", "--way", "to-client"}));
  BOOST_TEST((all == words{"clients: delay 40 ms", "clients: bandwidth 5000 bytes/s", "clients: blackhole to-client"}));
  BOOST_TEST(contains(failure([] { client_of(1, 500ms); }), "in time"));
  heal();
}

BOOST_AUTO_TEST_CASE(one_request_or_its_reply_is_lost) {
  auto client = client_of(1);
  const auto rules = faults(answer({"fault", "drop-reply", "1", "create", "-k", "2"}));
  BOOST_TEST((rules == words{"clients: drop-reply create 2"}));
  client.create("/first", "", 0);
  BOOST_TEST(!failure([&] { client.create("/second", "", 0); }).empty());
  BOOST_TEST(client_of(1).exists("/second"));
  answer({"fault", "drop-request", "1", "create"});
  BOOST_TEST(!failure([] { client_of(1).create("/third", "", 0); }).empty());
  BOOST_TEST(!client_of(1).exists("/third"));
  heal();
}

BOOST_AUTO_TEST_CASE(a_server_that_is_partitioned_comes_back) {
  const int follower = with_role("follower");
  BOOST_TEST(faults(answer({"partition", std::to_string(follower)})).size() == 4u);
  BOOST_TEST(eventually([&] { return text(node(follower), "role") == "looking"; }));
  heal();
  BOOST_TEST(text(node(follower), "role") == "follower");
  const int leader = with_role("leader");
  BOOST_TEST(faults(answer({"partition", std::to_string(follower), "--from", std::to_string(leader)})).size() == 2u);
  BOOST_TEST(faults(answer({"heal", std::to_string(follower)})).empty());
  heal();
}

BOOST_AUTO_TEST_CASE(what_one_server_sends_another_disappears) {
  const int follower = with_role("follower"), leader = with_role("leader");
  answer({"fault", "blackhole", std::to_string(leader), "--peer", std::to_string(follower), "--way", "to-server"});
  const auto back = "to server " + std::to_string(leader) + " (quorum): blackhole to-client";
  BOOST_TEST(faults(node(follower)).at(0) == back);
  BOOST_TEST(eventually([&] { return text(node(follower), "role") == "looking"; }));
  heal();
}

BOOST_AUTO_TEST_CASE(a_mistake_names_its_cure) {
  BOOST_TEST(contains(refusal({"fault"}, 2), "subcommand"));
  BOOST_TEST(contains(refusal({"fault", "melt", "1"}, 2), "subcommand"));
  BOOST_TEST(contains(refusal({"fault", "freeze"}, 2), "ID"));
  BOOST_TEST(contains(refusal({"fault", "delay", "1", "-5"}, 2), "MS"));
  BOOST_TEST(contains(refusal({"fault", "drop-reply", "1", "mkdir"}, 2), "create2"));
  BOOST_TEST(contains(refusal({"fault", "freeze", "4"}, 1), "no server 4"));
  BOOST_TEST(contains(refusal({"fault", "freeze", "1", "--peer", "1"}, 1), "name two"));
  command other;
  const auto up = other.run({"up", "-n", "1", "-o", "json"});
  BOOST_TEST_REQUIRE(up.exit_code == 0, up.err);
  BOOST_TEST(contains(other.run({"fault", "freeze", "1"}).err, "testcluster up --proxies"));
  BOOST_TEST(contains(other.run({"partition", "1"}).err, "only one server"));
}

BOOST_AUTO_TEST_SUITE_END()

// Mistakes in a schedule of faults are found before the first step, here even before the cluster starts.

namespace {

void refused_schedule(const std::string& text, const std::string& because,
                      const std::vector<std::string>& cluster = {"-n", "3", "--observers", "1", "--proxies"}) {
  const written_file file("faults.toml", text);
  std::vector<std::string> arguments{"exec", "--schedule", file.path()};
  arguments.insert(arguments.end(), cluster.begin(), cluster.end());
  arguments.insert(arguments.end(), {"--", "echo", "unreachable"});
  const auto result = command().run(arguments);
  BOOST_TEST(result.exit_code == 125);
  BOOST_TEST(result.out == "");
  BOOST_TEST(contains(result.err, file.path() + because), text + ": " + result.err);
}

std::string step(const std::string& keys) { return "[[step]]\nat = \"1s\"\n" + keys + "\n"; }

}  // namespace

BOOST_AUTO_TEST_SUITE(schedules)

BOOST_AUTO_TEST_CASE(keys_and_types) {
  refused_schedule("", ":1: step: expected at least one table [[step]]");
  refused_schedule("steps = 1\n", ":1: unknown key steps; known here: step");
  refused_schedule("[[step]]\ndo = \"heal\"\n", ":1: at: missing");
  refused_schedule("[[step]]\nat = \"1s\"\n", ":1: do: missing");
  refused_schedule(step("do = \"melt\""), ":3: do: expected kill, stop, pause, resume");
  refused_schedule("[[step]]\nat = 1\ndo = \"heal\"\n", ":2: at: expected a duration");
  refused_schedule(step("do = \"kill\""), ":1: server: missing; kill needs it");
  refused_schedule(step("do = \"kill\"\nserver = \"boss\""), ":4: server: expected the id of a server");
  refused_schedule(step("do = \"kill\"\nserver = 0"), ":4: server: expected the id of a server");
  refused_schedule(step("do = \"kill\"\nserver = 1\nway = \"both\""), ":5: unknown key way");
  refused_schedule(step("do = \"restart\"\nserver = 1\nfor = \"1s\""), ":5: for: restart has no end");
  refused_schedule(step("do = \"delay\"\nserver = 1"), ":1: by: missing");
  refused_schedule(step("do = \"freeze\"\nserver = 1\nway = \"up\""), ":5: way: expected to-server, to-client or both");
  refused_schedule(step("do = \"drop-reply\"\nserver = 1\nrequest = \"mkdir\""), ":5: request: ");
  refused_schedule(step("do = \"cut\"\nserver = 1\npeer = 1"), ":5: peer: it is the same as server");
  refused_schedule(step("do = \"expire\""), ":3: do: expire needs either path or session");
  refused_schedule(step("do = \"expire\"\nsession = \"12ab\""),
                   ":4: session: expected a session id: hexadecimal with 0x");
  refused_schedule(step("do = \"expire\"\npath = \"a\""), ":4: path: expected a path that begins with a slash");
}

BOOST_AUTO_TEST_CASE(all_steps_are_checked) {
  refused_schedule(step("do = \"heal\"") + step("do = \"kill\"\nserver = 5"), ":4: kill: there is no server 5");
}

BOOST_AUTO_TEST_CASE(the_cluster_must_fit) {
  refused_schedule(step("do = \"pause\"\nserver = \"observer\""), ":1: pause: this cluster has no observer",
                   {"-n", "3"});
  refused_schedule(step("do = \"pause\"\nserver = \"follower\""), ":1: pause: a single voter has no follower",
                   {"-n", "1"});
  refused_schedule(step("do = \"partition\"\nserver = 1"), ":1: partition: there is only one server", {"-n", "1"});
  refused_schedule(step("do = \"partition\"\nserver = 1"), ":1: partition: it needs proxies between", {"--delay", "0"});
  refused_schedule(step("do = \"freeze\"\nserver = 1"), ":1: freeze: it needs proxies in front of", {"-n", "1"});
}

BOOST_AUTO_TEST_SUITE_END()
