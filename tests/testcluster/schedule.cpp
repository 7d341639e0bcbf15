// Mistakes in a schedule of faults are found before the first step, here even before the cluster starts.
#include <boost/test/unit_test.hpp>

#include "command.hpp"
#include "written_file.hpp"

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
  refused_schedule(step("do = \"melt\""), ":3: do: expected kill, pause, resume");
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
