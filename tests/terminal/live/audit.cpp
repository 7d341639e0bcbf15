// The audit log of interventions against real servers.
#include "change/audit.hpp"

#include <fstream>

#include <boost/asio/co_spawn.hpp>
#include <boost/json/parse.hpp>

#include "live/admin_fixture.hpp"
#include "support/temporary_folder.hpp"

using namespace zkrecipes::test;
namespace asio = boost::asio;
namespace json = boost::json;

namespace {

struct audit_fixture : admin_fixture {
  audit_fixture() { logs = {{"ZKADMIN_AUDIT_FILE", file()}, {"ZKADMIN_AUDIT_PATH", root() + "/ops/audit"}}; }
  std::string file() const { return (folder.path() / "log").string(); }
  void lead() {
    join("/e", "a");
    leaves("/e");
    election("/e", is_executing);
  }
  void leaves_log() {
    leaves("/ops");
    leaves("/ops/audit");
  }
  std::int64_t written() { return get("/e/" + children("/e").at(0)).stat.mzxid; }
  program_result resign() { return zkadmin({"resign", root() + "/e", "--rw"}, logs); }

  temporary_folder folder;
  std::map<std::string, std::string> logs;
};

asio::awaitable<void> write_many(zkrecipes::session over, std::string path, std::string name, int& open) {
  for (int i = 0; i < 10; ++i) {
    zkadmin::audit_entry entry;
    entry.id = name + std::to_string(i);
    co_await zkadmin::write_audit_node(over, path, entry);
  }
  --open;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(audit_suite, audit_fixture)

BOOST_AUTO_TEST_CASE(an_intervention_is_in_both_logs) {
  lead();
  leaves_log();
  const auto done = resign();
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err.find("\naudit file " + file() + "\naudit node " + root() + "/ops/audit\n") != std::string::npos,
             done.err);
  for (const char* other : {"ZKADMIN_AUDIT_FILE", "ZKADMIN_AUDIT_PATH"}) {
    auto one = logs;
    one.erase(other);
    const auto result = zkadmin({"audit", "-o", "json"}, one);
    BOOST_TEST(result.code == 0, result.err);
    const auto document = json::parse(result.out);
    BOOST_TEST_REQUIRE(document.at("interventions").as_array().size() == 1u);
    const auto& entry = document.at("interventions").at(0);
    BOOST_TEST(entry.at("state") == "done");
    BOOST_TEST(entry.at("command").as_string() == "zkadmin resign " + root() + "/e --rw");
    BOOST_TEST(entry.at("result").as_string() == "asked a to give up " + root() + "/e");
    BOOST_TEST(std::string(entry.at("requests").as_string()).starts_with("set " + root() + "/e/"));
    BOOST_TEST(entry.at("cluster").as_string() == hosts);
  }
  BOOST_TEST(json::parse(zkadmin({"audit", "-o", "json"}, logs).out).at("interventions").as_array().size() == 1u);
  BOOST_TEST(zkadmin({"audit"}).code == 2);
}

BOOST_AUTO_TEST_CASE(an_intervention_that_fails_is_logged_as_failed) {
  using namespace zkrecipes;
  const std::string node = "/e/_c_x-latch-0000000001";
  create("/e");
  const acl readable{{perm_read, "world", "anyone"}};
  const auto made =
      run(zk().async_create(node, R"({"id":"x","keeps_record":false})", create_mode::persistent, readable, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(made));
  for (const auto& each : {std::string("/e"), node}) leaves(each);
  leaves_log();
  BOOST_TEST(resign().code == 5);
  const auto document = json::parse(zkadmin({"audit", "-o", "json"}, logs).out);
  const auto& all = document.at("interventions").as_array();
  BOOST_TEST_REQUIRE(all.size() == 1u);
  BOOST_TEST(all[0].at("state") == "failed");
  BOOST_TEST(std::string(all[0].at("result").as_string()).starts_with("sending the request: not allowed"));
  BOOST_TEST(zkadmin({"resign", root() + "/e"}, logs).code == 1);
  BOOST_TEST(json::parse(zkadmin({"audit", "-o", "json"}, logs).out).at("interventions").as_array().size() == 1u,
             "what is only shown is not logged");
}

BOOST_AUTO_TEST_CASE(nothing_is_sent_if_the_file_can_not_be_written) {
  lead();
  const auto before = written();
  logs["ZKADMIN_AUDIT_FILE"] = (folder.path() / "missing" / "log").string();
  const auto result = resign();
  BOOST_TEST(result.code == 1);
  BOOST_TEST(result.err.ends_with("No such file or directory: nothing was sent\n"), result.err);
  BOOST_TEST(written() == before);
  BOOST_TEST(!contains("/ops"));
}

BOOST_AUTO_TEST_CASE(a_tree_that_is_deleted_is_logged) {
  for (const char* each : {"/d", "/d/a"}) create(each);
  leaves_log();
  const auto logged = [&] {
    const auto document = json::parse(zkadmin({"audit", "-o", "json"}, logs).out);
    return document.at("interventions").as_array();
  };
  const auto at = root() + "/d";
  const auto plan = "delete " + at + "/a version=0\ndelete " + at + " version=0\n2 nodes with 0 bytes of data\n";
  const auto shown_logs = "audit file " + file() + "\naudit node " + root() + "/ops/audit\n";
  const auto shown = zkadmin({"delete", at, "-R"}, logs);
  BOOST_TEST(shown.out == plan + shown_logs);
  BOOST_TEST(logged().empty(), "what is only shown is not logged");
  const auto done = zkadmin({"delete", at, "-R", "--rw", "--yes", at}, logs);
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err == plan + shown_logs);
  const auto all = logged();
  BOOST_TEST_REQUIRE(all.size() == 1u);
  BOOST_TEST(all[0].at("state") == "done");
  BOOST_TEST(all[0].at("requests").as_string() == plan);
  BOOST_TEST(all[0].at("result").as_string() == "deleted 2 of 2 nodes at and below " + at);
}

BOOST_AUTO_TEST_CASE(a_tree_stays_if_its_end_can_not_be_logged) {
  create("/d");
  leaves("/d");
  logs["ZKADMIN_AUDIT_FILE"] = (folder.path() / "missing" / "log").string();
  const auto at = root() + "/d";
  const auto result = zkadmin({"delete", at, "-R", "--rw", "--yes", at}, logs);
  BOOST_TEST(result.code == 1);
  BOOST_TEST(result.err.ends_with("No such file or directory: nothing was sent\n"), result.err);
  BOOST_TEST(contains("/d"));
}

BOOST_AUTO_TEST_CASE(foreign_data_in_the_node_stays_and_nothing_is_sent) {
  lead();
  leaves_log();
  const auto before = written();
  create("/ops");
  create("/ops/audit", "precious");
  const auto result = resign();
  BOOST_TEST(result.code == 1);
  BOOST_TEST(
      result.err.find("/ops/audit is not an audit log, and is left alone: nothing was sent") != std::string::npos,
      result.err);
  BOOST_TEST(get("/ops/audit").data == "precious");
  BOOST_TEST(written() == before);
  // The file was written before, and says that nothing came of it.
  const auto lines = zkadmin::read_audit_lines(file());
  BOOST_TEST_REQUIRE(lines.entries.size() == 1u);
  BOOST_TEST((lines.entries[0].state == zkadmin::audit_state::failed));
  BOOST_TEST(lines.entries[0].result.ends_with("nothing was sent"), lines.entries[0].result);
  // A node with children and without data may be anybody's, such as an election without a term.
  logs["ZKADMIN_AUDIT_PATH"] = root() + "/ops";
  BOOST_TEST(resign().code == 1);
  BOOST_TEST(get("/ops").data == "");
  BOOST_TEST(written() == before);
}

BOOST_AUTO_TEST_CASE(several_operators_write_at_once) {
  leaves_log();
  int open = 3;
  const auto failed = [](std::exception_ptr error) { BOOST_TEST(!error); };
  for (const char* name : {"a", "b", "c"})
    asio::co_spawn(executor(), write_many(connect(), "/ops/audit", name, open), failed);
  BOOST_TEST_REQUIRE(run_until([&] { return open == 0; }));
  const auto log = zkadmin::parse_audit_log(get("/ops/audit").data);
  BOOST_TEST_REQUIRE(log.has_value());
  BOOST_TEST(log->size() == 30u);
}

BOOST_AUTO_TEST_SUITE_END()
