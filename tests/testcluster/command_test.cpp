#include "command.hpp"

#include <fstream>
#include <sstream>

#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

namespace json = boost::json;

namespace {

std::string text_in(const std::filesystem::path& name) {
  std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

pid_t supervisor(const std::filesystem::path& dir) {
  return static_cast<pid_t>(json::parse(text_in(dir / "cluster.json")).as_object().at("supervisor").as_int64());
}

std::string string(const json::object& from, const char* key) { return std::string(from.at(key).as_string()); }

const json::object& node(const json::object& cluster, int id) {
  return cluster.at("nodes").as_array().at(id - 1).as_object();
}

std::string role(command& testcluster, int id) {
  return string(node(testcluster.run({"status", "-o", "json"}).json(), id), "role");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_command)

BOOST_AUTO_TEST_CASE(up_status_down) {
  command testcluster;
  const auto up = testcluster.run({"up", "-n", "1", "--delay", "5", "-o", "json"});
  BOOST_TEST_REQUIRE(up.exit_code == 0, up.err);
  BOOST_TEST(up.err == "");
  const auto cluster = up.json();
  const std::filesystem::path dir = string(cluster, "dir");
  const auto pid = supervisor(dir);
  const auto& server = node(cluster, 1);
  BOOST_TEST(server.at("client_port").as_int64() == 21810);
  BOOST_TEST(string(server, "role") == "standalone");
  BOOST_TEST(string(cluster, "hosts") == string(server, "proxy"));
  BOOST_TEST(connect(string(cluster, "hosts")).exists("/"));
  BOOST_TEST(testcluster.run({"status", "-o", "json"}).json() == cluster);
  BOOST_TEST(contains(testcluster.run({"status"}).out, string(server, "address")));

  const auto down = testcluster.run({"down", "-o", "json"});
  BOOST_TEST(down.exit_code == 0);
  BOOST_TEST(string(down.json().at("ended").as_array().at(0).as_object(), "was") == "up");
  BOOST_TEST(!alive(pid));
  BOOST_TEST(!alive(static_cast<pid_t>(server.at("pid").as_int64())));
  BOOST_TEST(!std::filesystem::exists(dir));
  BOOST_TEST(!std::filesystem::exists(testcluster.register_folder()));
}

BOOST_AUTO_TEST_CASE(a_cluster_that_is_down_is_taken_down_without_complaint) {
  command testcluster;
  const std::vector<std::vector<std::string>> ways{
      {"down"}, {"down", "--dir", "/nonexistent"}, {"down", "--name", "orders"}};
  for (const auto& down : ways) {
    const auto result = testcluster.run(down);
    BOOST_TEST(result.exit_code == 0);
    BOOST_TEST(result.out == "");
    BOOST_TEST(contains(result.err, "no cluster is up"));
  }
  BOOST_TEST(testcluster.run({"down", "-o", "json"}).json().at("ended").as_array().empty());
}

BOOST_AUTO_TEST_CASE(a_temporary_directory_goes_with_a_killed_supervisor) {
  command testcluster;
  const auto up = testcluster.run({"up", "-n", "1", "-o", "json"});
  BOOST_TEST_REQUIRE(up.exit_code == 0, up.err);
  const std::filesystem::path dir = string(up.json(), "dir");
  ::kill(supervisor(dir), SIGKILL);
  BOOST_TEST(eventually([&] { return !std::filesystem::exists(dir); }));
  BOOST_TEST(contains(testcluster.run({"status"}).err, "no cluster is up; start one with: testcluster up"));
  BOOST_TEST(testcluster.run({"down"}).exit_code == 0);
  BOOST_TEST(!std::filesystem::exists(testcluster.register_folder()));
}

BOOST_AUTO_TEST_CASE(faults_on_a_server) {
  command testcluster;
  const auto up = testcluster.run({"up", "-n", "2", "--tick", "200", "-o", "json"});
  BOOST_TEST_REQUIRE(up.exit_code == 0, up.err);
  auto client = connect(string(node(up.json(), 1), "address"));
  std::ostringstream hex;
  hex << "0x" << std::hex << client.session().id;
  const auto expired = testcluster.run({"expire", hex.str(), "-o", "json"}).json();
  BOOST_TEST(expired.at("expired").as_bool());
  BOOST_TEST(string(expired, "session") == hex.str());
  const auto again = testcluster.run({"expire", std::to_string(client.session().id)});
  BOOST_TEST(again.exit_code == 1);
  BOOST_TEST(contains(again.err, "no session " + hex.str()));

  BOOST_TEST(testcluster.run({"kill", "2", "-o", "json"}).json().at("running").as_bool() == false);
  BOOST_TEST(role(testcluster, 2) == "stopped");
  const auto dead = testcluster.run({"pause", "2"});
  BOOST_TEST(dead.exit_code == 1);
  BOOST_TEST(contains(dead.err, "server 2 is not running"));
  BOOST_TEST(testcluster.run({"restart", "2"}).exit_code == 0);
  const auto stopped = testcluster.run({"stop", "leader", "-o", "json"}).json();
  BOOST_TEST(string(stopped, "role") == "stopped");
  BOOST_TEST(testcluster.run({"restart", std::to_string(stopped.at("id").as_int64())}).exit_code == 0);
  const auto missing = testcluster.run({"kill", "observer"});
  BOOST_TEST(missing.exit_code == 1);
  BOOST_TEST(contains(missing.err, "no server is observer now"), missing.err);
  BOOST_TEST(testcluster.run({"pause", "2"}).out == "server 2 is paused\n");
  BOOST_TEST(role(testcluster, 2) == "paused");
  BOOST_TEST(testcluster.run({"resume", "2"}).out == "server 2 is resumed\n");
  BOOST_TEST(contains(testcluster.run({"kill", "3"}).err, "no server 3"));
}

BOOST_AUTO_TEST_CASE(a_directory_of_the_user_stays) {
  command testcluster;
  scratch place;
  const auto draft = place.path() / "cluster.json.new";  // a supervisor that was killed at once leaves it
  const std::vector<std::string> up{"up", "-n", "1", "--dir", place.path().string()};
  std::ofstream(draft) << "mine";
  BOOST_TEST(testcluster.run(up).exit_code == 1);
  BOOST_TEST(text_in(draft) == "mine");
  std::ofstream(draft) << "{\"supervisor\":1,\"made\":false}\n";
  BOOST_TEST_REQUIRE(testcluster.run(up).exit_code == 0);
  BOOST_TEST(!std::filesystem::exists(draft));
  const auto second = testcluster.run(up);
  BOOST_TEST(second.exit_code == 1);
  BOOST_TEST(contains(second.err, "already up"));
  std::ofstream(place.path() / "notes") << "mine";
  BOOST_TEST(testcluster.run({"down", "--dir", place.path().string()}).exit_code == 0);
  BOOST_TEST(std::filesystem::exists(place.path() / "notes"));
  std::filesystem::remove(place.path() / "notes");
  BOOST_TEST(std::filesystem::is_empty(place.path()));
}

BOOST_AUTO_TEST_CASE(a_foreign_cluster_json_and_what_is_beside_it_stay) {
  command testcluster;
  for (const std::string text :
       {"", "mine", "{\"name\": \"orders\"}", "{\"supervisor\": 1}", "{\"supervisor\": \"me\", \"made\": true}"}) {
    scratch place;
    const auto record = place.path() / "cluster.json";
    const auto notes = place.path() / "ensemble" / "notes";
    std::filesystem::create_directory(notes.parent_path());
    std::ofstream(record) << text;
    std::ofstream(notes) << "mine";
    for (const std::string verb : {"up", "down", "status"}) {
      const auto refused = testcluster.run({verb, "--dir", place.path().string()});
      BOOST_TEST(refused.exit_code == 1, verb);
      BOOST_TEST(contains(refused.err, record.string() + " is not a file of testcluster"), refused.err);
    }
    BOOST_TEST(text_in(record) == text);
    BOOST_TEST(text_in(notes) == "mine");
  }
}

BOOST_AUTO_TEST_CASE(what_a_killed_supervisor_leaves_is_no_obstacle) {
  command testcluster;
  scratch place;
  const std::filesystem::path dir = place.path() / "made";
  const std::vector<std::string> up{"up", "-n", "1", "--dir", dir.string(), "-o", "json"};
  for (int round = 0; round < 2; ++round) {
    const auto started = testcluster.run(up);
    BOOST_TEST_REQUIRE(started.exit_code == 0, started.err);
    const auto server = static_cast<pid_t>(node(started.json(), 1).at("pid").as_int64());
    ::kill(supervisor(dir), SIGKILL);
    BOOST_TEST(eventually([&] { return !alive(server); }, 5s));
    const auto status = testcluster.run({"status", "--dir", dir.string()});
    BOOST_TEST(status.exit_code == 1);
    BOOST_TEST(contains(status.err, "gone"));
    BOOST_TEST(contains(testcluster.run({"status"}).err, "testcluster down"));
  }
  const auto down = testcluster.run({"down", "-o", "json"});
  BOOST_TEST(string(down.json().at("ended").as_array().at(0).as_object(), "was") == "stale");
  BOOST_TEST(!std::filesystem::exists(dir));
  BOOST_TEST(!std::filesystem::exists(testcluster.register_folder()));
}

BOOST_AUTO_TEST_CASE(with_several_clusters_one_must_be_chosen) {
  command testcluster;
  const auto first = testcluster.run({"up", "-n", "1", "-o", "json"});
  const auto second = testcluster.run({"up", "-n", "1", "-o", "json"});
  BOOST_TEST_REQUIRE(first.exit_code + second.exit_code == 0);
  const auto status = testcluster.run({"status"});
  BOOST_TEST(status.exit_code == 1);
  BOOST_TEST(contains(status.err, "--dir " + string(first.json(), "dir")));
  BOOST_TEST(contains(status.err, "--dir " + string(second.json(), "dir")));
  const auto misspelt = testcluster.run({"down", "--name", "ordres"});
  BOOST_TEST(misspelt.exit_code == 1);
  BOOST_TEST(contains(misspelt.err, "no cluster named ordres is up; none has a name"), misspelt.err);
  BOOST_TEST(testcluster.run({"down", "--dir", string(first.json(), "dir")}).exit_code == 0);
  BOOST_TEST(testcluster.run({"status", "-o", "json"}).json().at("dir") == second.json().at("dir"));
}

BOOST_AUTO_TEST_CASE(a_mistake_is_explained) {
  command testcluster;
  const auto refused = [&](const std::vector<std::string>& arguments, int exit_code, const std::string& because) {
    const auto result = testcluster.run(arguments);
    BOOST_TEST(result.exit_code == exit_code);
    BOOST_TEST(result.out == "");
    BOOST_TEST(contains(result.err, because), result.err);
    BOOST_TEST(!contains(result.err, "ensemble_options"), result.err);
  };
  refused({}, 2, "subcommand");
  refused({"up", "-n", "0"}, 2, "--servers");
  refused({"up", "-n", "10"}, 2, "--servers");
  refused({"up", "--session-limits", "5"}, 2, "--session-limits");
  refused({"up", "--session-limits", "5", "4"}, 2, "--session-limits: the shortest session timeout must not");
  refused({"up", "--four-letter-words", "all"}, 2, "--four-letter-words");
  refused({"up", "--config", "foo"}, 2, "--config: expected one line KEY=VALUE of zoo.cfg, found 'foo'");
  refused({"up", "--config", "clientPort=1"}, 2, "--config: testcluster itself sets clientPort");
  refused({"up", "--config", "server.1 = a:1:2"}, 2, "--config: testcluster itself sets server.1");
  refused({"kill"}, 2, "ID");
  refused({"kill", "boss"}, 2, "expected leader, follower or observer, found 'boss'");
  refused({"expire", "0xgg"}, 2, "SESSION-ID");
  refused({"up", "--config", "\x1b[2J\u202e"}, 2, "found '\\x1b[2J\\xe2\\x80\\xae'");
  refused({"status", "--dir", "/\u009bnone"}, 1, "no cluster is up in /\\xc2\\x9bnone");
  refused({"status", "-o", "xml"}, 2, "--output: expected text or json, found 'xml'");
  refused({"status"}, 1, "testcluster up");
  refused({"up", "--dir", "/nonexistent/dir"}, 1, "could not make");
  testcluster.set("TESTCLUSTER_ZOOKEEPER_JAR", "/nonexistent/zookeeper.jar");
  refused({"up", "-n", "1"}, 1, "apt-get install zookeeper");
  testcluster.set("PATH", "/nonexistent");
  refused({"up", "-n", "1"}, 1, "apt-get install default-jre-headless");
}

// Everybody can write to the folder for temporary files: whoever makes the register first could tell of his own
// servers.
BOOST_AUTO_TEST_CASE(a_register_of_another_user_is_read_by_nobody) {
  scratch elsewhere;
  const auto theirs = elsewhere.path() / "theirs";
  std::filesystem::create_directories(theirs);
  std::ofstream(elsewhere.path() / "cluster.json") << R"({"supervisor":1,"made":false})";
  std::filesystem::create_directory_symlink(elsewhere.path(), theirs / "mine");
  const auto check_refused = [](command& testcluster, const std::string& reason) {
    for (const std::vector<std::string>& each : std::vector<std::vector<std::string>>{{"list"},
                                                                                      {"status"},
                                                                                      {"status", "-o", "json"},
                                                                                      {"status", "--name", "mine"},
                                                                                      {"down"},
                                                                                      {"down", "--name", "mine"},
                                                                                      {"kill", "1"},
                                                                                      {"logs"},
                                                                                      {"fault", "cut", "1"},
                                                                                      {"up", "-n", "1"}}) {
      const auto result = testcluster.run(each);
      BOOST_TEST(result.exit_code == 1, each.back());
      BOOST_TEST(result.out == "", each.back());
      BOOST_TEST(contains(result.err, reason + "; set XDG_RUNTIME_DIR to a folder of your own"), result.err);
    }
    BOOST_TEST(contains(testcluster.run({"status", "--dir", "/nonexistent"}).err, "no cluster is up in /nonexistent"));
  };
  command by_link;
  std::filesystem::create_directory_symlink(theirs, by_link.register_folder());
  check_refused(by_link, by_link.register_folder().string() + ": Not a directory");
  std::filesystem::remove(by_link.register_folder());
  BOOST_TEST(std::filesystem::exists(elsewhere.path() / "cluster.json"));
  if (::geteuid() != 0) return;  // only root can give a folder to another user
  command by_owner;
  constexpr uid_t nobody = 65534;
  std::filesystem::create_directory(by_owner.register_folder());
  BOOST_TEST_REQUIRE(::chown(by_owner.register_folder().c_str(), nobody, nobody) == 0);
  std::filesystem::create_directory_symlink(elsewhere.path(), by_owner.register_folder() / "mine");
  check_refused(by_owner, by_owner.register_folder().string() + ": it belongs to another user");
  std::filesystem::remove_all(by_owner.register_folder());
}

BOOST_AUTO_TEST_CASE(help_is_no_mistake) {
  command testcluster;
  const auto help = testcluster.run({"--help"});
  BOOST_TEST(help.exit_code == 0);
  BOOST_TEST(contains(help.out, "expire"));
}

BOOST_AUTO_TEST_CASE(it_tells_its_version) {
  command testcluster;
  const auto version = testcluster.run({"--version"});
  BOOST_TEST(version.exit_code == 0);
  BOOST_TEST(version.out.starts_with("testcluster "));
}

BOOST_AUTO_TEST_SUITE_END()

// The servers' logs as the command prints them.

namespace {

/// A directory as a dead cluster leaves it.
class left_logs {
 public:
  void write(int id, const std::string& text) const {
    const auto folder = place_.path() / "ensemble" / ("server." + std::to_string(id));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "log", std::ios::binary) << text;
  }
  outcome print(std::vector<std::string> options = {}) const {
    options.insert(options.begin(), {"logs", "--dir", place_.path().string()});
    return command().run(options);
  }

 private:
  scratch place_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(server_logs)

BOOST_AUTO_TEST_CASE(lines_come_in_the_order_of_time) {
  left_logs logs;
  logs.write(1, "09:00:00.100 first\n  its trace\n09:00:00.300 third\n");
  logs.write(2, "no time\n09:00:00.200 second\n23:59:59.999 last today\n00:00:00.001 tomorrow\n");
  logs.write(3, "23:59:59.998 before\n00:00:00.000 midnight\nno end of line");
  BOOST_TEST(logs.print().out ==
             "2 | no time\n1 | 09:00:00.100 first\n1 |   its trace\n2 | 09:00:00.200 second\n1 | 09:00:00.300 third\n"
             "3 | 23:59:59.998 before\n2 | 23:59:59.999 last today\n3 | 00:00:00.000 midnight\n"
             "2 | 00:00:00.001 tomorrow\n3 | no end of line\n");
}

BOOST_AUTO_TEST_CASE(one_server_has_no_prefix) {
  left_logs logs;
  logs.write(1, "a\n");
  BOOST_TEST(logs.print().out == "a\n");
  logs.write(2, "b\n");
  BOOST_TEST(logs.print({"2"}).out == "b\n");
  BOOST_TEST(logs.print({"--follow", "2"}).out == "b\n");  // nobody writes any more
}

BOOST_AUTO_TEST_CASE(a_log_gives_no_orders_to_the_terminal) {
  left_logs logs;
  logs.write(1, "red \x1b[31m\tand\r\x7f \u009b\u202e\u00e9\n");
  BOOST_TEST(logs.print().out == "red \\x1b[31m\tand\\x0d\\x7f \\xc2\\x9b\\xe2\\x80\\xae\u00e9\n");
}

BOOST_AUTO_TEST_CASE(what_is_not_there_is_named) {
  left_logs logs;
  BOOST_TEST(contains(logs.print().err, "there are no logs"));
  logs.write(1, "a\n");
  const auto missing = logs.print({"2"});
  BOOST_TEST(missing.exit_code == 1);
  BOOST_TEST(contains(missing.err, "there is no server 2"));
}

BOOST_AUTO_TEST_SUITE_END()
