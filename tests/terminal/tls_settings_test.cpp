// The settings of secure connections.
#include "settings_place.hpp"

BOOST_FIXTURE_TEST_SUITE(tls_settings, settings_place)

BOOST_AUTO_TEST_CASE(tls_is_wanted_if_one_of_its_settings_is_there) {
  BOOST_TEST(!load({"--hosts", "a"}).tls.has_value());
  BOOST_TEST(load({"--hosts", "a", "--tls"}).tls.has_value());
  const auto config = write("c.toml", "hosts = \"a\"\ntls_authorities = \"ca.pem\"\ntls_server_name = \"zk\"\n");
  const auto found = load({"--config", config.c_str()});
  BOOST_TEST_REQUIRE(found.tls.has_value());
  BOOST_TEST(found.tls->authorities == (dir / "ca.pem").string());
  BOOST_TEST(found.tls->server_name == "zk");
  BOOST_TEST(!load({"--config", config.c_str(), "--no-tls"}).tls.has_value());
}

BOOST_AUTO_TEST_CASE(what_the_command_line_says_of_tls_wins_over_a_file_that_turns_it_off) {
  const auto config = write("c.toml", "hosts = \"a\"\ntls = false\ntls_authorities = \"ca.pem\"\n");
  BOOST_TEST(!load({"--config", config.c_str()}).tls.has_value());
  BOOST_TEST(load({"--config", config.c_str(), "--tls-server-name", "zk"}).tls.has_value());
}

BOOST_AUTO_TEST_CASE(a_key_that_everybody_may_read_is_refused) {
  const auto key = write("key.pem", "");
  fs::permissions(key, fs::perms::owner_read | fs::perms::others_read);
  BOOST_TEST(has(refused({"--hosts", "a", "--tls-key", key.c_str()}), "--tls-key: everybody may read the key in "));
  fs::permissions(key, fs::perms::owner_read);
  BOOST_TEST(load({"--hosts", "a", "--tls-key", key.c_str()}).tls->key == key);
}

BOOST_AUTO_TEST_SUITE_END()
