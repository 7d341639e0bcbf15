// The fixtures for other people's tests.
#include <stdexcept>

#include <boost/test/unit_test.hpp>

#include <testcluster/fixture.hpp>
#include <testcluster/proxy.hpp>

#include "support.hpp"

namespace {

/// In this program only one suite has it; in a program of its own it would be a global fixture.
struct fixture_servers : testcluster::module_ensemble {
  fixture_servers() : module_ensemble({.servers = 1, .tick_time = 200ms, .delay_proxies = true}) {}
};

zk_client server_client(const testcluster::fixture& test) { return connect(test.cluster().nodes().front().address); }

}  // namespace

BOOST_AUTO_TEST_SUITE(fixtures, *boost::unit_test::fixture<fixture_servers>())

BOOST_AUTO_TEST_CASE(no_server_starts_before_a_test_needs_one) {
  BOOST_TEST(!testcluster::module_ensemble::current().is_started());
  BOOST_CHECK_THROW(fixture_servers second, std::logic_error);
}

BOOST_FIXTURE_TEST_CASE(a_test_may_leave_everything_broken, testcluster::fixture) {
  BOOST_TEST(chroot() == "/testcluster-1");
  BOOST_TEST(hosts() == cluster().hosts() + "/testcluster-1");
  auto client = server_client(*this);
  client.create("/testcluster-1/deep", "", 0);
  client.create("/testcluster-1/deep/deeper", "", 0);
  for (int i = 0; i < 300; ++i) client.create("/testcluster-1/deep/deeper/" + std::to_string(i), "", 0);
  client.create("/testcluster-1/owned", "", 1);
  cluster().proxy(1).freeze(true);
  cluster().kill(1);
}

BOOST_FIXTURE_TEST_CASE(the_next_one_finds_a_clean_cluster, testcluster::fixture) {
  BOOST_TEST(chroot() == "/testcluster-2");
  BOOST_TEST(cluster().proxy(1).faults().empty());
  BOOST_TEST(connect(cluster().hosts()).exists("/testcluster-2"));
  BOOST_TEST(!server_client(*this).exists("/testcluster-1"));
  cluster().pause(1);
}

BOOST_FIXTURE_TEST_CASE(a_paused_server_goes_on, testcluster::fixture) {
  BOOST_TEST(cluster().nodes().front().role == "standalone");
  BOOST_TEST(!server_client(*this).exists("/testcluster-2"));
}

BOOST_AUTO_TEST_CASE(a_test_that_ends_early_is_cleaned_up_after) {
  auto& cluster = testcluster::module_ensemble::current().get();
  std::string chroot;
  {
    testcluster::fixture ended_early;
    ended_early.setup();
    chroot = ended_early.chroot();
    cluster.kill(1);
  }
  BOOST_TEST(cluster.nodes().front().role == "standalone");
  BOOST_TEST(!connect(cluster.nodes().front().address).exists(chroot));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(fixtures_without_ensemble)

BOOST_AUTO_TEST_CASE(the_cure_is_named) {
  try {
    testcluster::module_ensemble::current();
    BOOST_ERROR("there is none");
  } catch (const std::logic_error& problem) {
    BOOST_TEST(contains(problem.what(), "BOOST_TEST_GLOBAL_FIXTURE"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
