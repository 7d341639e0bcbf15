// Servers with certificates, and with rights.
#include <set>

#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/election.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/queue.hpp>

#include <testcluster/ensemble.hpp>

#include "live/admin_fixture.hpp"
#include "live/running_program.hpp"

using namespace std::chrono_literals;
using namespace zkrecipes;
using namespace zkrecipes::test;
namespace json = boost::json;

// zkadmin with a server that asks for certificates.

namespace {

struct secure_case {
  boost::asio::io_context io;
  testcluster::ensemble cluster{{.servers = 1, .tls = true, .start_timeout = 120s}};

  program_result run(std::vector<std::string> arguments) {
    const auto& own = cluster.client_certificate();
    const std::map<std::string, std::string> variables{{"ZKADMIN_TLS_AUTHORITIES", cluster.authority().certificate()},
                                                       {"ZKADMIN_TLS_CERTIFICATE", own.certificate},
                                                       {"ZKADMIN_TLS_KEY", own.key}};
    arguments.insert(arguments.end(), {"--hosts", cluster.hosts(), "--timeout", "30s"});
    return run_zkadmin(io, std::move(arguments), variables);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(secure_suite, secure_case)

BOOST_AUTO_TEST_CASE(the_server_and_its_nodes_are_read) {
  const auto status = run({"status", "-o", "json"});
  BOOST_TEST_REQUIRE(status.code == 0, status.err);
  const auto document = json::parse(status.out);
  const auto& server = document.at("ensemble").as_array().at(0);
  BOOST_TEST(server.at("reachable").as_bool());
  BOOST_TEST(server.at("role") == "standalone");
  const auto nodes = run({"ls", "/"});
  BOOST_TEST(nodes.code == 0, nodes.err);
  BOOST_TEST(nodes.out.find("zookeeper") != std::string::npos, nodes.out);
}

// The server has a port without TLS, too.
BOOST_AUTO_TEST_CASE(its_settings_are_checked) {
  const auto checked = run({"check", "--security", "--only", "servers", "-o", "json"});
  BOOST_TEST(checked.code == 1, checked.out << checked.err);
  const auto document = json::parse(checked.out);
  const auto& found = document.at("problems").as_array();
  BOOST_TEST_REQUIRE(found.size() == 1u, checked.out);
  BOOST_TEST(found[0].at("name") == "plain-port-open");
}

BOOST_AUTO_TEST_CASE(the_reason_of_a_refusal_is_told) {
  const auto status = run({"status", "--tls-server-name", "elsewhere.example"});
  BOOST_TEST(status.code != 0);
  BOOST_TEST((status.out + status.err).find("certificate is for another name") != std::string::npos,
             status.out + status.err);
}

BOOST_AUTO_TEST_SUITE_END()

// `zkadmin check --security` against real servers.

namespace {

const std::map<std::string, std::string> as_ops{{"ZKADMIN_DIGEST", "ops:topsecret"}};

class security_fixture : public recipe_fixture {
 public:
  /// The JSON of a check of the recipes, which has to exit with `code`.
  json::value check(int code, const std::map<std::string, std::string>& variables = {},
                    std::vector<std::string> more = {"--only", "recipes", "elections"}) {
    more.insert(more.begin(), {"check", "--security", "-o", "json"});
    const auto result = zkadmin(std::move(more), variables);
    BOOST_TEST(result.code == code, result.code << ": " << result.out << result.err);
    last_ = result.out + result.err;
    BOOST_TEST(last_.find("topsecret") == std::string::npos);
    return json::parse(result.out);
  }
  const std::string& last() const { return last_; }

  /// The names of the problems at a path below our root.
  static std::set<std::string> problems_at(const json::value& document, const std::string& where) {
    std::set<std::string> names;
    for (const auto& each : document.at("problems").as_array())
      if (each.at("where").as_string() == where) names.emplace(each.at("name").as_string());
    return names;
  }

  session connect_as(const std::string& user, const acl& standard) {
    auto with = options();
    with.digest.push_back({user, "topsecret"});
    with.default_acl = standard;
    return connect(std::move(with));
  }
  session connect_as_ops(const acl& standard) { return connect_as("ops", standard); }

  /// What stands in an ACL for a user: the servers make it from the credentials.
  acl_entry entry_of(const std::string& user, std::int32_t rights) {
    auto by = connect_as(user, creator_acl());
    make(by, "/own", creator_acl());
    const auto told = run(by.async_get_acl("/own", tuple));
    clean(by, {"/own"});
    auto entry = std::get<1>(told).at(0);
    entry.permissions = rights;
    return entry;
  }

  void put(session& by, const std::string& path) {
    queue items(by, path);
    const auto done = run(items.async_put("x", tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(done), std::get<0>(done).message());
  }

  ownership acquire(session& by, const std::string& path) {
    lock one(by, path);
    auto held = run(one.async_acquire(tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(held), std::get<0>(held).message());
    return std::move(std::get<1>(held));
  }

  void make(session& by, const std::string& path, const acl& rights) {
    const auto made = run(by.async_create(path, "", create_mode::persistent, rights, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(made), std::get<0>(made).message());
  }

  std::vector<std::string> children_of(session& by, const std::string& path) {
    catch_up(by);
    return std::get<1>(run(by.async_children(path, tuple))).names;
  }

  void set_acl(session& by, const std::string& path, const acl& rights) {
    const auto done = run(by.async_set_acl(path, rights, any_version, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(done), std::get<0>(done).message());
  }

  /// Removes what the case has made, by somebody who may.
  void clean(session& by, const std::vector<std::string>& paths) {
    for (const auto& each : paths) {
      const auto done = run(by.async_remove_with_children(each, tuple));
      BOOST_TEST(!std::get<0>(done), each << ": " << std::get<0>(done).message());
    }
    run(by.async_close(tuple));
  }

  std::string at(const std::string& path) const { return root() + path; }

 private:
  std::string last_;
};

using names = std::set<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(security_suite, security_fixture)

BOOST_AUTO_TEST_CASE(recipes_by_default_are_open) {
  for (const char* each : {"/lock", "/queue"}) removes(each);
  join("/e", "a");
  leaves("/e");
  const auto held = acquire(zk(), "/lock");
  put(zk(), "/queue");
  const auto found = check(2);
  for (const char* each : {"/lock", "/queue", "/e"})
    BOOST_TEST((problems_at(found, at(each)) == names{"open-path"}), last());
  BOOST_TEST((problems_at(found, root()) == names{"open-parent"}), last());
  BOOST_TEST(last().find("\"cure\":\"setAcl -R " + at("/lock") + " auth::cdrwa\"") != std::string::npos, last());
  BOOST_TEST(found.at("complete").as_bool());
}

BOOST_AUTO_TEST_CASE(recipes_with_an_acl_of_their_own_are_closed) {
  auto by = connect_as_ops(creator_acl());
  {
    const auto held = acquire(by, "/lock");
    put(by, "/queue");
    const auto found = check(1, as_ops);
    for (const char* each : {"/lock", "/queue"}) BOOST_TEST(problems_at(found, at(each)).empty(), last());
    BOOST_TEST((problems_at(found, "connection") == names{"plain-connection"}), last());
  }
  clean(by, {"/lock", "/queue"});
}

BOOST_AUTO_TEST_CASE(what_may_not_be_read_is_unknown) {
  auto by = connect_as_ops(creator_acl());
  make(by, "/app", open_acl());
  make(by, "/app/lock", creator_acl());
  const auto found = check(3, {}, {"--only", at("/app/lock")});
  BOOST_TEST(!found.at("complete").as_bool());
  BOOST_TEST(last().find("may not be read") != std::string::npos, last());
  clean(by, {"/app"});
}

BOOST_AUTO_TEST_CASE(a_node_without_its_own_acl_in_a_closed_recipe) {
  auto by = connect_as_ops(creator_acl());
  put(by, "/queue");
  auto careless = connect_as_ops({});
  put(careless, "/queue");
  const auto found = check(2, as_ops);
  BOOST_TEST((problems_at(found, at("/queue")) == names{"mixed-acls", "open-nodes"}), last());
  clean(by, {"/queue"});
}

BOOST_AUTO_TEST_CASE(a_line_that_can_not_be_left) {
  auto by = connect_as_ops(creator_acl());
  make(by, "/lock", creator_acl());
  make(by, "/lock/_c_x-lock-0000000000", creator_acl());
  set_acl(by, "/lock", {{perm_create | perm_read, "digest", "a:b"}, {perm_all, "auth", ""}});
  const auto found = check(2, as_ops);
  BOOST_TEST(problems_at(found, at("/lock")).contains("no-way-out"), last());
  clean(by, {"/lock"});
}

// docs/security.md recommends it.
BOOST_AUTO_TEST_CASE(producers_that_may_only_put) {
  const auto producers = entry_of("producer", perm_create), consumers = entry_of("ops", perm_all);
  auto by = connect_as_ops(creator_acl());
  make(by, "/queue", {producers, consumers});
  auto producer = connect_as("producer", {consumers});
  put(producer, "/queue");
  const auto made = children_of(by, "/queue");
  BOOST_TEST_REQUIRE(made.size() == 1u);
  BOOST_TEST(std::get<0>(run(producer.async_children("/queue", tuple))) == errc::no_auth);
  BOOST_TEST(std::get<0>(run(producer.async_get("/queue/" + made[0], tuple))) == errc::no_auth);
  BOOST_TEST(std::get<0>(run(producer.async_remove("/queue/" + made[0], any_version, tuple))) == errc::no_auth);
  const auto found = check(1, as_ops);
  BOOST_TEST(problems_at(found, at("/queue")).empty(), last());
  queue items(by, "/queue");
  const auto taken = run(items.async_take(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(taken), std::get<0>(taken).message());
  BOOST_TEST(!std::get<0>(run(items.async_acknowledge(std::get<1>(taken), tuple))));
  clean(by, {"/queue"});
}

BOOST_AUTO_TEST_CASE(a_member_that_may_not_be_read_stops_the_next) {
  auto by = connect_as_ops(creator_acl());
  make(by, "/lock", open_acl());
  {
    const auto held = acquire(by, "/lock");
    lock next(zk(), "/lock");
    BOOST_TEST(std::get<0>(run(next.async_acquire(tuple))) == errc::no_auth);
  }
  clean(by, {"/lock"});
}

BOOST_AUTO_TEST_CASE(a_part_of_a_long_list_is_looked_at) {
  removes("/queue");
  queue items(zk(), "/queue");
  const std::vector<std::string> many(1'200, "x");
  const auto done = run(items.async_put_many(many, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(done), std::get<0>(done).message());
  const auto found = check(2);
  BOOST_TEST(!found.at("complete").as_bool());
  BOOST_TEST(last().find("200 nodes below it were not looked at") != std::string::npos, last());
}

BOOST_AUTO_TEST_CASE(nodes_that_are_too_deep_are_unknown) {
  auto by = connect_as_ops(creator_acl());
  std::string path = "/deep";
  for (int i = 0; i < 5; ++i, path += "/x") make(by, path, creator_acl());
  const auto found = check(3, as_ops, {"--only", at("/deep")});
  BOOST_TEST(last().find(at("/deep/x/x/x")) != std::string::npos, last());
  BOOST_TEST(last().find("1 nodes below it were not looked at: they are too deep") != std::string::npos, last());
  clean(by, {"/deep"});
}

BOOST_AUTO_TEST_CASE(the_side_of_a_priority_queue_is_looked_at) {
  auto by = connect_as_ops(creator_acl());
  make(by, "/queue", creator_acl());
  put(by, "/queue");
  make(by, "/queue-side", open_acl());
  const auto found = check(2, as_ops, {"--only", "recipes"});
  BOOST_TEST(problems_at(found, at("/queue")).contains("open-nodes"), last());
  BOOST_TEST(last().find("below " + at("/queue-side")) != std::string::npos, last());
  clean(by, {"/queue", "/queue-side"});
}

BOOST_AUTO_TEST_CASE(a_named_node_that_is_no_recipe_is_judged_as_a_parent) {
  zk();
  const auto found = check(1, {}, {"--only", root()});
  BOOST_TEST((problems_at(found, root()) == names{"open-parent"}), last());
  BOOST_TEST(last().find("-R") == std::string::npos, last());
}

BOOST_AUTO_TEST_CASE(a_certificate_file_that_is_missing_is_told) {
  check(3, {{"ZKADMIN_TLS_AUTHORITIES", "/nowhere/ca.pem"}}, {"--only", "servers"});
  BOOST_TEST(last().find("/nowhere/ca.pem") != std::string::npos, last());
}

BOOST_AUTO_TEST_CASE(servers_without_a_secure_port) {
  const auto found = check(1, {}, {"--only", "servers"});
  const names expected{over_tls() ? "plain-port-open" : "no-secure-port"};
  for (const auto& each : direct_hosts()) BOOST_TEST((problems_at(found, each) == expected), last());
}

BOOST_AUTO_TEST_CASE(a_path_that_is_not_there_is_unknown) {
  zk();
  const auto found = check(3, {}, {"--only", at("/nowhere")});
  BOOST_TEST(!found.at("complete").as_bool());
  BOOST_TEST(last().find("there is no such node") != std::string::npos, last());
}

BOOST_AUTO_TEST_CASE(no_server_answers) {
  check(3, {{"ZKADMIN_HOSTS", "127.0.0.1:1"}}, {});
  BOOST_TEST(last().find("Connection refused") != std::string::npos, last());
}

BOOST_AUTO_TEST_CASE(an_admin_server_that_shows_secrets) {
  testcluster::ensemble lone({.servers = 1,
                              .four_letter_words = {"srvr", "conf", "gtmk"},
                              .admin_server = true,
                              .extra_config = {"skipACL=yes", "ssl.keyStore.password=topsecret"}});
  const auto node = lone.nodes().at(0);
  const auto port = node.admin.substr(node.admin.rfind(':') + 1);
  const auto found =
      check(2, {{"ZKADMIN_HOSTS", node.address}, {"ZKADMIN_ADMIN_PORT", port}, {"ZKADMIN_ROOT", "/"}}, {});
  BOOST_TEST((problems_at(found, node.address) ==
              names{"acls-skipped", "all-words-allowed", "admin-server-tells-secrets", "no-secure-port"}),
             last());
  BOOST_TEST(last().find("whether it answers others is not known") != std::string::npos, last());
  BOOST_TEST((problems_at(found, "/") == names{"open-parent"}), last());
}

BOOST_AUTO_TEST_SUITE_END()
