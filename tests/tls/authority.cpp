// The certificates that testcluster makes.
#include <filesystem>
#include <stdexcept>

#include <boost/test/unit_test.hpp>

#include <testcluster/ensemble.hpp>

#include "tls/tls_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace fs = std::filesystem;

BOOST_FIXTURE_TEST_SUITE(tls_authorities, tls_case)

BOOST_AUTO_TEST_CASE(keys_are_private) {
  const auto made = authority.issue({.name = "server"});
  const auto owner_only = fs::perms::owner_read | fs::perms::owner_write;
  for (const auto& each : {made.key, made.both}) BOOST_TEST((fs::status(each).permissions() == owner_only), each);
  BOOST_TEST(!fs::exists(folder.path() / "authority.key"));
}

BOOST_AUTO_TEST_CASE(a_name_has_to_be_that_of_a_file) {
  for (const auto* each : {"", "a/b", "..", "a b"})
    BOOST_CHECK_THROW(authority.issue({.name = each}), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(an_ensemble_without_tls_has_none) {
  testcluster::ensemble cluster({.servers = 1, .start_timeout = 120s});
  BOOST_CHECK_THROW(cluster.authority(), testcluster::error);
  BOOST_CHECK_THROW(cluster.client_certificate(), testcluster::error);
  BOOST_TEST(cluster.nodes().front().secure == "");
}

BOOST_AUTO_TEST_CASE(a_folder_that_was_given_is_left_empty) {
  const auto dir = folder.path() / "a folder, for #1 = 100%";
  fs::create_directory(dir);
  {
    testcluster::ensemble cluster({.servers = 1, .dir = dir, .tls = true, .start_timeout = 120s});
    BOOST_TEST(fs::exists(cluster.client_certificate().key));
    BOOST_TEST(cluster.hosts() == cluster.nodes().front().secure);
  }
  BOOST_TEST(fs::is_empty(dir));
}

// The servers would take it for another folder, and leave their data there.
BOOST_AUTO_TEST_CASE(a_folder_that_servers_misread_is_refused) {
  for (const auto* name : {"m\u00fcller", "back\\slash", "new\nline"}) {
    const auto dir = folder.path() / name;
    BOOST_CHECK_THROW(testcluster::ensemble({.servers = 1, .dir = dir}), std::invalid_argument);
    BOOST_TEST(!fs::exists(dir));
  }
}

BOOST_AUTO_TEST_SUITE_END()
