// A superuser, servers that demand credentials, and TLS between the servers.
#include <fstream>
#include <sstream>

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include <testcluster/ensemble.hpp>

#include "command.hpp"
#include "jute/messages.hpp"
#include "support.hpp"

namespace {

std::string text_of(const std::filesystem::path& name) {
  std::ostringstream text;
  text << std::ifstream(name, std::ios::binary).rdbuf();
  return text.str();
}

mode_t mode_of(const std::filesystem::path& name) {
  struct ::stat found {};
  return ::stat(name.c_str(), &found) == 0 ? found.st_mode & 0777 : 0;
}

zk_client client_with(const std::string& secret, const testcluster::node_info& server) {
  return {testcluster::detail::parse_endpoint(server.address), clock_type::now() + 10s, {.timeout_ms = 10'000}, secret};
}

/// No file of the cluster but `kept`, and no command line of its servers, has the text.
void check_absent(const std::string& secret, testcluster::ensemble& cluster, const std::filesystem::path& kept) {
  std::size_t files = 0;
  for (const auto& each : std::filesystem::recursive_directory_iterator(cluster.dir())) {
    if (!each.is_regular_file() || each.path() == kept) continue;
    ++files;
    BOOST_TEST(!contains(text_of(each.path()), secret), each.path());
  }
  BOOST_TEST(files >= 3u);
  for (const auto& node : cluster.nodes())
    BOOST_TEST(!contains(text_of("/proc/" + std::to_string(node.pid) + "/cmdline"), secret));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(access_control)

BOOST_AUTO_TEST_CASE(a_superuser_and_servers_that_demand_credentials) {
  scratch place;
  const auto dir = place.path() / "cluster";
  std::filesystem::path file;
  {
    testcluster::ensemble cluster({.servers = 1, .dir = dir, .digest_superuser = true, .auth_required = true});
    file = cluster.superuser_file();
    BOOST_TEST(file == dir / "superuser");
    BOOST_TEST(mode_of(file) == 0600u);
    const auto secret = cluster.credentials();
    BOOST_TEST(text_of(file) == secret + "\n");
    BOOST_TEST(secret.starts_with("super:"));
    BOOST_TEST(secret.size() >= 6u + 32u);
    check_absent(secret.substr(6), cluster, file);
    const auto server = cluster.nodes().front();
    auto stranger = connect(server.address);
    BOOST_TEST(contains(failure([&] { stranger.create("/a", "", 0); }), "-124"));
    auto anybody = client_with("anybody:anything", server);
    anybody.create("/a", "", testcluster::jute::ephemeral);
    BOOST_TEST(cluster.expire_owner("/a") == anybody.session().id);
    cluster.restart(1);
    cluster.wait_serving();
  }
  BOOST_TEST(!std::filesystem::exists(file));
}

BOOST_AUTO_TEST_CASE(without_the_options_there_are_no_credentials) {
  testcluster::ensemble cluster({.servers = 1});
  BOOST_TEST(cluster.credentials() == "");
  BOOST_TEST(contains(failure([&] { cluster.superuser_file(); }), "--digest-superuser"));
  BOOST_TEST(!cluster.peers_speak_tls());
}

BOOST_AUTO_TEST_CASE(servers_speak_tls_with_each_other) {
  const auto begin = clock_type::now();
  testcluster::ensemble cluster({.servers = 3, .tls = true, .start_timeout = 120s});
  BOOST_TEST_MESSAGE("three servers with TLS between them serve after "
                     << std::chrono::duration_cast<std::chrono::milliseconds>(clock_type::now() - begin).count()
                     << " ms");
  BOOST_TEST(cluster.peers_speak_tls());
  const auto old = cluster.leader();
  cluster.kill(old);
  BOOST_TEST(cluster.leader() != old);
  cluster.start(old);
  for (const auto& each : cluster.nodes())
    BOOST_TEST(contains(text_of(each.log), "SSL handshake complete with"), each.id);
}

BOOST_AUTO_TEST_CASE(proxies_between_servers_have_to_read_what_passes) {
  testcluster::ensemble cluster(
      {.servers = 3, .tick_time = 250ms, .sync_limit = 4, .tls = true, .peer_proxies = true, .start_timeout = 120s});
  BOOST_TEST(!cluster.peers_speak_tls());
  const auto old = cluster.leader();
  cluster.partition(old);
  BOOST_TEST(eventually(
      [&] {
        int leaders = 0;
        for (const auto& each : cluster.nodes()) leaders += each.id != old && each.role == "leader";
        return leaders == 1;
      },
      60s));
  cluster.heal();
  cluster.wait_serving();
}

BOOST_AUTO_TEST_CASE(a_line_of_the_user_keeps_the_servers_plain) {
  testcluster::ensemble cluster(
      {.servers = 1, .observers = 1, .tls = true, .extra_config = {"sslQuorum=false"}, .start_timeout = 120s});
  BOOST_TEST(!cluster.peers_speak_tls());
  for (const auto& each : cluster.nodes())
    BOOST_TEST(!contains(text_of(each.log), "SSL handshake complete with"), each.id);
}

BOOST_AUTO_TEST_CASE(the_command_tells_the_file_and_not_the_password) {
  command shell;
  const auto up = shell.run({"up", "-n", "1", "--digest-superuser", "--auth-required", "--name", "closed"});
  BOOST_TEST_REQUIRE(up.exit_code == 0, up.err);
  const auto status = shell.run({"status", "-o", "json"}).json();
  const std::filesystem::path file(std::string(status.at("superuser").as_string()));
  BOOST_TEST(contains(up.out, "superuser  " + file.string() + "\n"), up.out);
  BOOST_TEST(status.at("auth_required").as_bool());
  BOOST_TEST(mode_of(file) == 0600u);
  auto secret = text_of(file);
  BOOST_TEST_REQUIRE(secret.size() > 7u);
  secret.pop_back();
  BOOST_TEST(!contains(up.out + up.err + boost::json::serialize(status), secret.substr(6)));
  BOOST_TEST(shell.run({"restart", "1"}).exit_code == 0);
  BOOST_TEST(shell.run({"down"}).exit_code == 0);
  BOOST_TEST(!std::filesystem::exists(file));
}

BOOST_AUTO_TEST_CASE(a_command_finds_the_file_in_its_environment) {
  command shell;
  const auto ran =
      shell.run({"exec", "-n", "1", "--digest-superuser", "--", "sh", "-c",
                 "stat -c %a \"$TESTCLUSTER_SUPERUSER_FILE\"; cut -d: -f1 \"$TESTCLUSTER_SUPERUSER_FILE\""});
  BOOST_TEST(ran.exit_code == 0, ran.err);
  BOOST_TEST(ran.out == "600\nsuper\n", ran.out);
}

BOOST_AUTO_TEST_CASE(lines_that_would_contradict_are_refused) {
  const auto refused = [](testcluster::ensemble_options options) {
    return failure([&] { testcluster::ensemble cluster(options); });
  };
  BOOST_TEST(contains(refused({.servers = 1, .extra_config = {"enforce.auth.enabled=true"}}),
                      "testcluster itself sets enforce.auth.enabled"));
  BOOST_TEST(contains(refused({.servers = 1,
                               .digest_superuser = true,
                               .extra_config = {"DigestAuthenticationProvider.superDigest=super:x"}}),
                      "leave out one of the two"));
  command shell;
  const auto up = shell.run({"up", "-n", "1", "--config", "enforce.auth.schemes=digest"});
  BOOST_TEST(up.exit_code == 2);
  BOOST_TEST(contains(up.err, "enforce.auth.schemes"), up.err);
  const written_file file("cluster.toml", "auth_required = 1\n");
  BOOST_TEST(contains(shell.run({"up", "-f", file.path()}).err, "auth_required"));
}

BOOST_AUTO_TEST_SUITE_END()
