// Mistakes in a cluster file are named with file, line, key and cure, before anything starts.
#include <boost/test/unit_test.hpp>

#include "command.hpp"
#include "support.hpp"

namespace {

void refused_file(const std::string& text, const std::string& because) {
  const written_file file("cluster.toml", text);
  const auto result = command().run({"up", "-f", file.path()});
  BOOST_TEST(result.exit_code == 1);
  BOOST_TEST(contains(result.err, file.path() + because), text + ": " + result.err);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cluster_files)

BOOST_AUTO_TEST_CASE(keys_and_types) {
  refused_file("servers = 3\nnodes = 3\n", ":2: unknown key nodes; known here: name, servers, observers");
  refused_file("\nservers = \"3\"\n", ":2: servers: expected a whole number from 1 to 9, without quotes, found string");
  refused_file("tick = 500\n",
               ":1: tick: expected a duration from \"10ms\" to \"3600s\", such as \"500ms\", found integer");
  refused_file("proxies = \"yes\"\n", ":1: proxies: expected true or false, without quotes, found string");
  refused_file("four_letter_words = \"ruok\"\n", ":1: four_letter_words: expected a list of texts");
  refused_file("four_letter_words = [\"ruok\",\n 7]\n", ":2: four_letter_words: expected a list of texts");
  refused_file("config = 3\n", ":1: config: expected a table [config]");
  refused_file("servers = \n", ":1: ");
  refused_file("name = 5\n", ":1: name: expected a text in quotes");
}

BOOST_AUTO_TEST_CASE(ranges) {
  refused_file("servers = 10\n", ":1: servers: expected a whole number from 1 to 9, found 10");
  refused_file("servers = 5\nobservers = 5\n", ":2: observers: must be 0 or more, and at most 9 together");
  refused_file("heap_mib = 16\n", ":1: heap_mib: expected a whole number from 32 to 65536, found 16");
  refused_file("tick = \"5ms\"\n", ":1: tick: expected a duration from \"10ms\"");
  refused_file("tick = \"5 s\"\n", ":1: tick: expected a duration");
  refused_file("tick = \"99999999999h\"\n", ":1: tick: expected a duration");
  refused_file("delay = \"61s\"\n", ":1: delay: expected a duration from \"0s\" to \"60s\"");
  refused_file("session_limits = [\"2s\"]\n", ":1: session_limits: expected the shortest and the longest timeout");
  refused_file("session_limits = [\"2s\", \"1s\"]\n",
               ":1: session_limits: the shortest session timeout must not exceed");
  refused_file("four_letter_words = [\"all\"]\n", ":1: four_letter_words: must be words of four small letters");
  refused_file("name = \"1st\"\n", ":1: name: expected a name of up to 64 letters");
}

BOOST_AUTO_TEST_CASE(properties) {
  refused_file("[config]\nclientPort = 2181\n", ":2: config.clientPort: testcluster itself sets clientPort");
  refused_file("[config]\npeerType = \"observer\"\n", ":2: config.peerType: testcluster itself sets peerType");
  refused_file("[config]\na.b = 1\nserver.1 = \"x\"\n", ":3: config.server.1: testcluster itself sets server.1");
  refused_file("[config]\nsnapCount = 1.5\n", ":2: config.snapCount: expected a text, a whole number, true or false");
  refused_file("[config]\nx = \"a\\nb\"\n", ":2: config.x: expected one line KEY=VALUE");
}

BOOST_AUTO_TEST_CASE(a_file_that_can_not_be_read) {
  BOOST_TEST(
      contains(command().run({"up", "--file", "/nonexistent/x.toml"}).err, "could not read /nonexistent/x.toml"));
  BOOST_TEST(contains(command().run({"up", "--file", "/"}).err, "could not read /"));
}

BOOST_AUTO_TEST_CASE(the_command_line_wins_and_is_blamed_for_it) {
  const written_file file("cluster.toml", "servers = 1\nobservers = 4\n");
  const auto result = command().run({"up", "-f", file.path(), "-n", "9"});
  BOOST_TEST(result.exit_code == 2);
  BOOST_TEST(contains(result.err, "--observers: must be 0 or more"), result.err);
}

BOOST_AUTO_TEST_SUITE_END()
