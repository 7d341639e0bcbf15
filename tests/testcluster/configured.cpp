// A cluster that a file describes: a voter and an observer, with proxies. All cases use the same one, and leave it
// healed.
#include <algorithm>
#include <fstream>
#include <sstream>

#include <signal.h>

#include <boost/test/unit_test.hpp>

#include "command.hpp"
#include "jute/messages.hpp"
#include "support.hpp"

namespace {

class configured_cluster {
 public:
  configured_cluster() {
    const written_file file("cluster.toml",
                            "name = \"lab\"\nservers = 1\nobservers = 1\nproxies = true\ntick = \"200ms\"\n"
                            "heap_mib = 96\nsession_limits = [\"1s\", \"30s\"]\nfour_letter_words = [\"ruok\"]\n"
                            "[config]\nautopurge.snapRetainCount = 4\nsnapCount = 5000\n");
    const auto up = shell().run({"up", "-f", file.path(), "-o", "json"});
    BOOST_TEST_REQUIRE(up.exit_code == 0, up.err);
  }
  ~configured_cluster() { shell().run({"down", "--name", "lab"}); }
  static command& shell() {
    static command only;
    return only;
  }
};

outcome lab(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--name", "lab"});
  return configured_cluster::shell().run(arguments);
}

boost::json::object lab_node(int id) {
  return lab({"status", "-o", "json"}).json().at("nodes").as_array().at(id - 1).as_object();
}

std::string lab_text(int id, const char* key) { return std::string(lab_node(id).at(key).as_string()); }

std::string lab_dir() { return std::string(lab({"status", "-o", "json"}).json().at("dir").as_string()); }

std::string content(const std::filesystem::path& name) {
  std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  std::replace(all.begin(), all.end(), '\0', ' ');
  return all;
}

std::string hex(std::int64_t id) {
  std::ostringstream text;
  text << "0x" << std::hex << id;
  return text.str();
}

outcome run_schedule(const std::string& text) {
  const written_file file("faults.toml", text);
  return lab({"schedule", file.path()});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(configured, *boost::unit_test::fixture<configured_cluster>())

BOOST_AUTO_TEST_CASE(the_servers_are_as_the_file_says) {
  BOOST_TEST(lab_text(1, "role") == "leader");
  BOOST_TEST(lab_text(2, "role") == "observer");
  BOOST_TEST(lab_node(1).at("votes").as_bool());
  BOOST_TEST(!lab_node(2).at("votes").as_bool());
  const auto config = content(lab_dir() + "/ensemble/server.2/zoo.cfg");
  for (const std::string line :
       {"peerType=observer", "tickTime=200", "minSessionTimeout=1000", "maxSessionTimeout=30000",
        "4lw.commands.whitelist=srvr,ruok", "autopurge.snapRetainCount=4", "snapCount=5000"})
    BOOST_TEST(contains(config, line + "\n"), config);
  BOOST_TEST(contains(config, ":observer\n"));
  BOOST_TEST(!contains(content(lab_dir() + "/ensemble/server.1/zoo.cfg"), "peerType"));
  BOOST_TEST(contains(content("/proc/" + std::to_string(lab_node(2).at("pid").as_int64()) + "/cmdline"), "-Xmx96m"));
  auto through_observer = connect(lab_text(2, "proxy"));
  through_observer.create("/written", "", 0);
  BOOST_TEST(connect(lab_text(1, "address")).exists("/written"));
  through_observer.remove("/written");
}

BOOST_AUTO_TEST_CASE(the_name_is_found_and_taken) {
  auto& shell = configured_cluster::shell();
  const auto clusters = shell.run({"list", "-o", "json"}).json().at("clusters").as_array();
  BOOST_TEST_REQUIRE(clusters.size() == 1u);
  BOOST_TEST(clusters[0].at("name").as_string() == "lab");
  BOOST_TEST(clusters[0].at("state").as_string() == "up");
  BOOST_TEST(contains(shell.run({"list"}).out, lab_dir()));
  const auto again = shell.run({"up", "-n", "1", "--name", "lab"});
  BOOST_TEST(again.exit_code == 1);
  BOOST_TEST(contains(again.err, "a cluster named lab is up already; end it with: testcluster down --name lab"),
             again.err);
  scratch place;
  const auto elsewhere = place.path() / "new";
  BOOST_TEST(shell.run({"up", "-n", "1", "--name", "lab", "--dir", elsewhere.string()}).exit_code == 1);
  BOOST_TEST(!std::filesystem::exists(elsewhere));
  BOOST_TEST(
      contains(shell.run({"status", "--name", "other"}).err, "no cluster named other is up; the names are: lab"));
  BOOST_TEST(shell.run({"down", "--name", "other"}).exit_code == 1);
  BOOST_TEST(shell.run({"status", "--name", "9"}).exit_code == 2);
  BOOST_TEST(shell.run({"status", "--name", "lab", "--dir", lab_dir()}).exit_code == 2);
}

BOOST_AUTO_TEST_CASE(the_variable_names_the_cluster_and_an_option_wins) {
  auto& shell = configured_cluster::shell();
  shell.set("TESTCLUSTER_DIR", "/nonexistent");
  BOOST_TEST(contains(shell.run({"status"}).err, "no cluster is up in /nonexistent"));
  BOOST_TEST(lab({"status"}).exit_code == 0);
  BOOST_TEST(shell.run({"status", "--dir", lab_dir()}).exit_code == 0);
  shell.set("TESTCLUSTER_DIR", lab_dir());
  BOOST_TEST(shell.run({"status"}).exit_code == 0);
  shell.set("TESTCLUSTER_DIR", "");
}

BOOST_AUTO_TEST_CASE(the_owner_of_an_ephemeral_node_is_expired) {
  auto owner = connect(lab_text(1, "address"));
  owner.create("/owned", "", testcluster::jute::ephemeral);
  owner.create("/kept", "", 0);
  const auto done = lab({"expire", "--path", "/owned"});
  BOOST_TEST(done.exit_code == 0, done.err);
  BOOST_TEST(done.out == "session " + hex(owner.session().id) + " expired\n");
  auto other = connect(lab_text(1, "address"));
  BOOST_TEST(!other.exists("/owned"));
  BOOST_TEST(contains(lab({"expire", "--path", "/owned"}).err, "there is no node /owned"));
  const auto kept = lab({"expire", "--path", "/kept"});
  BOOST_TEST(kept.exit_code == 1);
  BOOST_TEST(contains(kept.err, "/kept is not ephemeral"));
  BOOST_TEST(contains(lab({"expire", "--path", "kept"}).err, "does not begin with a slash"));
  other.remove("/kept");
}

BOOST_AUTO_TEST_CASE(session_ids_are_hexadecimal_with_a_prefix_and_decimal_without) {
  for (const bool decimal : {false, true}) {
    auto client = connect(lab_text(1, "address"));
    const auto id = client.session().id;
    const auto done = lab({"expire", decimal ? std::to_string(id) : hex(id)});
    BOOST_TEST(done.out == "session " + hex(id) + " expired\n", done.err);
  }
  for (const std::string wrong : {"12ab", "0x", "0", "0x1ffffffffffffffff"}) {
    const auto refused = lab({"expire", wrong});
    BOOST_TEST(refused.exit_code == 2, wrong);
    BOOST_TEST(contains(refused.err, "hexadecimal with 0x"), refused.err);
  }
  BOOST_TEST(contains(lab({"expire"}).err, "SESSION-ID or --path"));
}

BOOST_AUTO_TEST_CASE(logs_are_followed_until_the_cluster_ends) {
  const auto logs = lab({"logs"});
  BOOST_TEST(contains(logs.out, "\n1 | "));
  BOOST_TEST(contains(logs.out, "\n2 | "));
  background_command follower;
  follower.start({"logs", "-f", "--dir", lab_dir(), "2"});
  const auto pid = lab_node(2).at("pid").as_int64();
  BOOST_TEST(follower.says("binding to port"));
  const auto before = follower.said().size();
  BOOST_TEST(lab({"restart", "2"}).exit_code == 0);
  BOOST_TEST(lab_node(2).at("pid").as_int64() != pid);
  BOOST_TEST(eventually([&] { return follower.said().find("binding to port", before) != std::string::npos; }));
}

BOOST_AUTO_TEST_CASE(a_schedule_is_carried_out_and_printed) {
  auto owner = connect(lab_text(1, "address"));
  owner.create("/doomed", "", testcluster::jute::ephemeral);
  const auto done = run_schedule(
      "[[step]]\nat = \"300ms\"\ndo = \"freeze\"\nserver = \"leader\"\nfor = \"100ms\"\n"
      "[[step]]\nat = \"0ms\"\ndo = \"pause\"\nserver = \"observer\"\nfor = \"200ms\"\n"
      "[[step]]\nat = \"600ms\"\ndo = \"delay\"\nserver = 1\nby = \"5ms\"\nfor = \"50ms\"\n"
      "[[step]]\nat = \"600ms\"\ndo = \"expire\"\npath = \"/doomed\"\n"
      "[[step]]\nat = \"700ms\"\ndo = \"kill\"\nserver = 2\nfor = \"1ms\"\n");
  BOOST_TEST(done.exit_code == 0, done.out + done.err);
  std::size_t at = 0;
  for (const std::string part :
       {"pause server 2 (observer) for 200ms", "end of pause of server 2", "freeze server 1 (leader) for 100ms",
        "end of freeze of server 1", "delay server 1 by 5ms for 50ms", "expire the owner of /doomed",
        "kill server 2 for 1ms", "end of kill of server 2"}) {
    const auto found = done.out.find(part, at);
    BOOST_TEST(found != std::string::npos, part + " in\n" + done.out);
    if (found != std::string::npos) at = found;
  }
  BOOST_TEST(contains(done.out, "end of delay of server 1"));
  BOOST_TEST(!connect(lab_text(1, "address")).exists("/doomed"));
  for (int id = 1; id <= 2; ++id) BOOST_TEST(!lab_node(id).contains("faults"));
  BOOST_TEST(lab_text(2, "role") == "observer");
}

BOOST_AUTO_TEST_CASE(a_step_that_fails_ends_the_schedule_and_its_faults) {
  const auto done = run_schedule(
      "[[step]]\nat = \"0s\"\ndo = \"partition\"\nserver = 2\nfor = \"1h\"\n"
      "[[step]]\nat = \"1ms\"\ndo = \"resume\"\nserver = 1\n"
      "[[step]]\nat = \"2ms\"\ndo = \"kill\"\nserver = 1\n");
  BOOST_TEST(done.exit_code == 1);
  BOOST_TEST(contains(done.out, "resume server 1 failed: server 1 is not paused"), done.out);
  BOOST_TEST(contains(done.out, "end of partition of server 2"));
  BOOST_TEST(!contains(done.out, "kill"));
  BOOST_TEST(!lab_node(2).contains("faults"));
  BOOST_TEST(lab({"heal"}).exit_code == 0);
}

BOOST_AUTO_TEST_CASE(a_signal_ends_a_schedule_and_its_faults) {
  const written_file file("faults.toml", "[[step]]\nat = \"0s\"\ndo = \"refuse\"\nserver = 1\nfor = \"1h\"\n");
  background_command running;
  running.start({"schedule", "--dir", lab_dir(), file.path()});
  BOOST_TEST(eventually([] { return lab_node(1).contains("faults"); }));
  running.signal(SIGTERM);
  BOOST_TEST(running.status() == 128 + SIGTERM);
  BOOST_TEST(!lab_node(1).contains("faults"));
}

BOOST_AUTO_TEST_CASE(a_schedule_runs_beside_a_command) {
  const written_file file("faults.toml", "[[step]]\nat = \"0s\"\ndo = \"freeze\"\nserver = 1\n");
  const written_file wrong("faults.toml", "[[step]]\nat = \"0s\"\ndo = \"resume\"\nserver = 1\n");
  const std::string until_frozen =
      std::string("until ") + COMMAND_PROGRAM + " status | grep -q freeze; do sleep 0.05; done";
  background_command beside;
  beside.start({"exec", "-n", "1", "--proxies", "--schedule", file.path(), "--", "sh", "-c", until_frozen});
  // The failure is in the common output before the command ends; one more request leaves the schedule time to end, too.
  background_command failing;
  failing.start(
      {"exec", "-n", "1", "--schedule", wrong.path(), "--", "sh", "-c",
       std::string("until grep -q 'not paused' /proc/self/fd/2; do sleep 0.05; done; ") + COMMAND_PROGRAM + " status"});
  BOOST_TEST(beside.status() == 0);
  BOOST_TEST(contains(beside.said(), "freeze server 1"));
  BOOST_TEST(failing.status() == 125);
  BOOST_TEST(contains(failing.said(), "the command succeeded, but not the schedule"), failing.said());
}

BOOST_AUTO_TEST_SUITE_END()
