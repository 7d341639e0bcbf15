// A command that runs with a cluster of its own, and the cluster that ends with it.
#include <fstream>

#include <signal.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "command.hpp"

namespace {

/// `exec` of a shell script on one server.
std::vector<std::string> exec_script(const std::string& script) {
  return {"exec", "-n", "1", "--tick", "200", "--", "sh", "-c", script};
}

int status_of(background_command& exec, const std::vector<std::string>& arguments) {
  exec.start(arguments);
  return exec.status();
}

/// A folder with a program named java that never serves.
void make_idle_java(const std::filesystem::path& folder) {
  std::ofstream(folder / "java") << "#!/bin/sh\nexec sleep 600\n";
  ::chmod((folder / "java").c_str(), 0755);
}

pid_t number_after(const std::string& text, const std::string& mark) {
  return std::stoi(text.substr(text.find(mark) + mark.size()));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exec_command)

BOOST_AUTO_TEST_CASE(the_command_finds_its_cluster_and_its_status_is_passed_on) {
  background_command exec;
  exec.set("ZKADMIN_HOSTS", "elsewhere:1");
  const std::string script = std::string("echo H=$TESTCLUSTER_HOSTS Z=$ZKADMIN_HOSTS N=$TESTCLUSTER_NAME; ") +
                             COMMAND_PROGRAM + " status -o json; " + COMMAND_PROGRAM +
                             " status --name box | head -n 1; exit 7";
  BOOST_TEST(status_of(exec, {"exec", "-n", "1", "--name", "box", "--", "sh", "-c", script}) == 7);
  BOOST_TEST(exec.is_clean());
  const auto said = exec.said();
  const auto json = boost::json::parse(said.substr(said.find('{'), said.rfind('}') + 1 - said.find('{'))).as_object();
  const std::string hosts(json.at("hosts").as_string());
  BOOST_TEST(said.starts_with("H=" + hosts + " Z=" + hosts + " N=box\n"), said);
  BOOST_TEST(json.at("name").as_string() == "box");
  BOOST_TEST(said.ends_with("hosts  " + hosts + "\n"), said);
}

BOOST_AUTO_TEST_CASE(what_can_not_be_run_has_a_status_of_its_own) {
  background_command missing, unfit;
  BOOST_TEST(status_of(missing, {"exec", "-n", "1", "--", "/nonexistent/program"}) == 127);
  BOOST_TEST(contains(missing.said(), "could not run /nonexistent/program"), missing.said());
  BOOST_TEST(missing.is_clean());
  BOOST_TEST(status_of(unfit, {"exec", "-n", "1", "--", "/"}) == 126);
  BOOST_TEST(unfit.is_clean());
}

BOOST_AUTO_TEST_CASE(a_cluster_that_does_not_start_has_a_status_of_its_own) {
  background_command exec;
  exec.set("TESTCLUSTER_ZOOKEEPER_JAR", "/nonexistent/zookeeper.jar");
  BOOST_TEST(status_of(exec, exec_script("echo unreachable")) == 125);
  BOOST_TEST(contains(exec.said(), "apt-get install zookeeper"));
  BOOST_TEST(!contains(exec.said(), "unreachable"));
}

BOOST_AUTO_TEST_CASE(without_a_command_there_is_nothing_to_run) {
  command testcluster;
  BOOST_TEST(testcluster.run({"exec", "-n", "1"}).exit_code == 2);
  BOOST_TEST(contains(testcluster.run({"exec", "-n", "1", "--"}).err, "exec: a command after --"));
  BOOST_TEST(testcluster.run({"exec", "ls"}).exit_code == 2);
}

BOOST_AUTO_TEST_CASE(faults_are_on_when_the_command_begins) {
  background_command exec;
  const std::vector<std::string> arguments{
      "exec",          "-n",    "1", "--fault", "delay 1 5", "--fault", "drop-reply 1 create2 -k 3", "--",
      COMMAND_PROGRAM, "status"};
  BOOST_TEST(status_of(exec, arguments) == 0);
  BOOST_TEST(contains(exec.said(), "clients: delay 5 ms"), exec.said());
  BOOST_TEST(contains(exec.said(), "clients: drop-reply create2 3"));
}

BOOST_AUTO_TEST_CASE(a_fault_that_fails_ends_the_cluster) {
  background_command exec;
  BOOST_TEST(status_of(exec, {"exec", "-n", "3", "--fault", "cut 1 --peer 1", "--", "echo", "unreachable"}) == 125);
  BOOST_TEST(exec.is_clean());
  BOOST_TEST(contains(exec.said(), "are the same; name two"), exec.said());
  BOOST_TEST(!contains(exec.said(), "unreachable"));
}

BOOST_AUTO_TEST_CASE(a_failed_command_leaves_the_logs_where_they_are_wanted) {
  scratch place;
  const auto run = [&](const std::string& kept, const std::string& program) {
    background_command exec;
    const std::vector<std::string> arguments{"exec", "-n", "1",  "--keep-logs", (place.path() / kept).string(),
                                             "--",   "sh", "-c", program};
    const int status = status_of(exec, arguments);
    BOOST_TEST(exec.is_clean());
    return status;
  };
  BOOST_TEST(run("good", "exit 0") == 0);
  BOOST_TEST(!std::filesystem::exists(place.path() / "good"));
  BOOST_TEST(run("bad", "exit 7") == 7);
  BOOST_TEST(std::filesystem::exists(place.path() / "bad" / "ensemble" / "server.1" / "zoo.cfg"));
  BOOST_TEST(command().run({"logs", "--dir", (place.path() / "bad").string()}).out != "");
  std::ofstream(place.path() / "file") << "mine";
  BOOST_TEST(run("file", "exit 7") == 7);
}

BOOST_AUTO_TEST_CASE(a_mistaken_fault_is_found_before_the_start) {
  command testcluster;
  const auto refused = [&](const std::string& fault, const std::string& because) {
    const auto result = testcluster.run({"exec", "-n", "1", "--fault", fault, "--", "true"});
    BOOST_TEST(result.exit_code == 2);
    BOOST_TEST(contains(result.err, "--fault: '" + fault + "': " + because), result.err);
  };
  refused("melt 1", "");
  refused("delay 1", "MS is required");
  refused("freeze 2", "there is no server 2");
  refused("partition 1", "there is only one server");
}

BOOST_AUTO_TEST_CASE(signals_are_passed_on) {
  background_command handled, fatal;
  handled.start(
      exec_script("for s in TERM HUP USR1; do trap \"echo got $s\" $s; done; trap 'exit 3' QUIT; echo ready; while :; "
                  "do sleep 0.05; done"));
  fatal.start({"exec", "-n", "1", "--", "sh", "-c", "echo ready; exec sleep 600"});
  BOOST_TEST_REQUIRE(handled.says("ready\n"));
  for (const auto& [number, name] :
       {std::pair(SIGTERM, "TERM"), std::pair(SIGHUP, "HUP"), std::pair(SIGUSR1, "USR1")}) {
    handled.signal(number);
    BOOST_TEST(handled.says(std::string("got ") + name + "\n"));
  }
  handled.signal(SIGQUIT);
  BOOST_TEST(handled.status() == 3);
  BOOST_TEST(handled.is_clean());
  BOOST_TEST_REQUIRE(fatal.says("ready\n"));
  fatal.signal(SIGINT);
  BOOST_TEST(fatal.status() == 128 + SIGINT);
  BOOST_TEST(fatal.is_clean());
}

// The command stops the supervisor, so that exec waits for the end of the cluster when the signal arrives.
BOOST_AUTO_TEST_CASE(a_signal_after_the_command_does_not_replace_its_status) {
  background_command exec;
  exec.start(
      exec_script("s=$(sed 's/.*\"supervisor\":\\([0-9]*\\).*/\\1/' \"$TESTCLUSTER_DIR/cluster.json\"); "
                  "echo supervisor $s, command $$.; kill -STOP $s; exit 7"));
  BOOST_TEST_REQUIRE(exec.says(".\n"));
  const auto cluster = number_after(exec.said(), "supervisor ");
  const auto shell = number_after(exec.said(), "command ");
  BOOST_TEST(eventually([&] { return ::kill(shell, 0) != 0; }));
  exec.signal(SIGTERM);
  ::kill(cluster, SIGCONT);
  BOOST_TEST(exec.status() == 7);
  BOOST_TEST(exec.is_clean());
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_start) {
  scratch folder;
  make_idle_java(folder.path());
  background_command exec;
  exec.set("PATH", folder.path().string() + ":" + std::getenv("PATH"));
  exec.start(exec_script("echo unreachable"));
  // The supervisor has made its directory then, and waits for the server, which never serves.
  BOOST_TEST_REQUIRE(eventually([&] { return !exec.is_clean(); }));
  exec.signal(SIGTERM);
  BOOST_TEST(exec.status() == 128 + SIGTERM);
  BOOST_TEST(exec.is_clean());
  BOOST_TEST(exec.said() == "");
  background_command killed;
  killed.set("PATH", folder.path().string() + ":" + std::getenv("PATH"));
  killed.start(exec_script("echo unreachable"));
  BOOST_TEST_REQUIRE(eventually([&] { return !killed.is_clean(); }));
  killed.signal(SIGKILL);
  BOOST_TEST(killed.status() == 128 + SIGKILL);
  BOOST_TEST(eventually([&] { return killed.is_over(); }));
}

BOOST_AUTO_TEST_CASE(nothing_outlives_exec_if_it_is_killed) {
  background_command exec;
  exec.start(exec_script("trap 'echo ended; exit 0' TERM; echo child $$.; while :; do sleep 0.05; done"));
  BOOST_TEST_REQUIRE(exec.says(".\n"));
  const auto child = number_after(exec.said(), "child ");
  exec.signal(SIGKILL);
  BOOST_TEST(exec.status() == 128 + SIGKILL);
  BOOST_TEST(exec.says("ended\n"));
  BOOST_TEST(eventually([&] { return !alive(child) && exec.is_clean(); }));
}

BOOST_AUTO_TEST_CASE(the_terminal_belongs_to_the_command) {
  background_command exec;
  exec.start_on_terminal(
      exec_script("trap 'n=$((n+1)); echo interrupt $n.' INT; test -t 0 && test -t 1 && echo terminal; "
                  "while [ -z \"$n\" ]; do sleep 0.05; done; read line; echo line $line; exit 5"));
  BOOST_TEST_REQUIRE(exec.says("terminal"));
  exec.type("\x03");
  BOOST_TEST(exec.says("interrupt 1."));
  exec.type("hello\n");
  BOOST_TEST(exec.says("line hello"));
  BOOST_TEST(exec.status() == 5);
  BOOST_TEST(!contains(exec.said(), "interrupt 2."));
}

BOOST_AUTO_TEST_CASE(a_closed_terminal_ends_the_command_and_the_cluster) {
  background_command exec;
  exec.start_on_terminal(exec_script("echo begun; while :; do sleep 0.05; done"));
  BOOST_TEST_REQUIRE(exec.says("begun"));
  exec.close_terminal();
  BOOST_TEST(exec.status() == 128 + SIGHUP);
  BOOST_TEST(exec.is_clean());
}

BOOST_AUTO_TEST_SUITE_END()
