// Several clusters in one configuration file.
#include "settings_place.hpp"

namespace {

constexpr const char* two_clusters = R"(cluster = "billing"
timeout = "3s"

[clusters.billing]
hosts = "zk1:2181,zk2:2181/app"
root = "/billing"

[clusters.test]
hosts = "localhost"
timeout = "1s"
name = "try"

[clusters."a.b"]
)";

struct two_of_them : settings_place {
  two_of_them() { rewrite(two_clusters); }
  void rewrite(const std::string& text) { config = write("config.toml", text); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(clusters, two_of_them)

BOOST_AUTO_TEST_CASE(the_default_cluster) {
  const auto found = load({});
  BOOST_TEST(found.hosts == "zk1:2181,zk2:2181/app");
  BOOST_TEST(found.root == "/billing");
  BOOST_TEST(found.name == "billing");
  BOOST_TEST((found.timeout == 3s), "it has none of its own");
}

BOOST_AUTO_TEST_CASE(a_cluster_by_its_name) {
  const auto found = load({"--cluster", "test"});
  BOOST_TEST(found.hosts == "localhost");
  BOOST_TEST(found.root == "/");
  BOOST_TEST(found.name == "try");
  BOOST_TEST((found.timeout == 1s));
  variables["ZKADMIN_CLUSTER"] = "test";
  BOOST_TEST(load({}).hosts == "localhost");
  BOOST_TEST(load({"--cluster", "billing"}).root == "/billing");
}

// Else the command would go to another cluster than the one that was named.
BOOST_AUTO_TEST_CASE(a_name_on_the_command_line_wins_over_hosts_of_the_environment) {
  variables["ZKADMIN_HOSTS"] = "elsewhere";
  BOOST_TEST(load({"--cluster", "test"}).hosts == "localhost");
  BOOST_TEST(load({"--cluster", "test", "--hosts", "here"}).hosts == "here");
  BOOST_TEST(load({}).hosts == "elsewhere");
  variables["ZKADMIN_CLUSTER"] = "test";
  BOOST_TEST(load({}).hosts == "elsewhere");
}

// Else one cluster's name, credentials and audit log would be used with the servers of another one.
BOOST_AUTO_TEST_CASE(other_servers_do_not_get_the_settings_of_the_cluster) {
  rewrite(
      "cluster = \"a\"\ntimeout = \"3s\"\n[clusters.a]\nhosts = \"h\"\nroot = \"/a\"\n"
      "digest_file = \"zkadmin.no-such-file\"\naudit_file = \"log\"\naudit_path = \"/audit\"\n");
  const auto check = [](const settings& found) {
    BOOST_TEST(found.hosts == "elsewhere");
    BOOST_TEST(found.name == "elsewhere");
    BOOST_TEST(found.root == "/");
    BOOST_TEST(!found.digest);
    BOOST_TEST(found.audit_file == "");
    BOOST_TEST(found.audit_path == "");
    BOOST_TEST((found.timeout == 3s), "it is not of the cluster");
  };
  BOOST_TEST(refused({}).find("digest_file: cannot read") != std::string::npos);
  check(load({"--hosts", "elsewhere"}));
  variables["ZKADMIN_CLUSTER"] = "a";
  check(load({"--hosts", "elsewhere"}));
  variables = {{"ZKADMIN_HOSTS", "elsewhere"}};
  check(load({}));
  BOOST_TEST(refused({"--cluster", "a", "--hosts", "elsewhere"}).find("digest_file: cannot read") != std::string::npos,
             "both are given in one place");
}

BOOST_AUTO_TEST_CASE(a_name_on_the_command_line_leaves_out_credentials_and_root_of_the_environment) {
  variables = {{"ZKADMIN_DIGEST", "u:p"}, {"ZKADMIN_ROOT", "/other"}, {"ZKADMIN_TIMEOUT", "2s"}};
  const auto found = load({"--cluster", "a.b", "--hosts", "h"});
  BOOST_TEST(!found.digest);
  BOOST_TEST(found.root == "/");
  BOOST_TEST((found.timeout == 2s));
  BOOST_TEST(load({"--cluster", "test", "--root", "/given"}).root == "/given");
  const auto of_environment = load({});
  BOOST_TEST(of_environment.digest.has_value());
  BOOST_TEST(of_environment.root == "/other");
  variables = {{"ZKADMIN_DIGEST_FILE", config + ".missing"}};
  BOOST_TEST(load({"--cluster", "test"}).hosts == "localhost");
}

BOOST_AUTO_TEST_CASE(a_cluster_that_is_not_there) {
  BOOST_TEST(refused({"--cluster", "prod"}) == "--cluster: there is no cluster prod (known: a.b, billing, test)");
  variables["ZKADMIN_CLUSTER"] = "a";
  BOOST_TEST(refused({}) == "ZKADMIN_CLUSTER: there is no cluster a (known: a.b, billing, test)");
  rewrite("cluster = \"x\"\nhosts = \"a\"\n");
  variables.clear();
  BOOST_TEST(refused({}) == config + ":1: cluster: there is no cluster x (the configuration file has none)");
}

BOOST_AUTO_TEST_CASE(a_cluster_without_settings_has_those_of_all) {
  BOOST_TEST((load({"--cluster", "a.b", "--hosts", "h"}).timeout == 3s));
  BOOST_TEST(refused({"--cluster", "a.b"}).starts_with("no servers: give --hosts"));
}

BOOST_AUTO_TEST_CASE(mistakes_in_the_table_of_a_cluster) {
  const auto said = [this](const std::string& text) {
    rewrite(text);
    return refused({}).substr(config.size());
  };
  BOOST_TEST(said("[clusters.a]\nhost = \"b\"\n").starts_with(":2: unknown key host (known: hosts, "));
  BOOST_TEST(said("[clusters.a]\ncluster = \"b\"\n").starts_with(":2: unknown key cluster"));
  BOOST_TEST(said("[clusters.a]\nhosts = 1\n") == ":2: hosts: expected a string, found: integer");
  BOOST_TEST(said("clusters = 1\n") == ":1: clusters: expected tables such as [clusters.test]");
  BOOST_TEST(said("[clusters]\na = 1\n") == ":2: clusters: expected a table, found: integer");
}

BOOST_AUTO_TEST_SUITE_END()
