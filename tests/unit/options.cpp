// Every field of the options, and of an ACL entry, is checked, and a refusal names the field.
#include <string>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/election.hpp>
#include <zkrecipes/node.hpp>
#include <zkrecipes/queue.hpp>

#include "session/core.hpp"
#include "support/fake_world.hpp"
#include "unit/refusal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

namespace {

using change = std::function<void(session_options&)>;

std::string message_for(const change& make_bad) {
  return refusal([&] {
    session_options options;
    options.hosts = "127.0.0.1";
    make_bad(options);
    detail::check(options);
  });
}

void check_refused(const std::string& field, const change& make_bad) {
  const auto message = message_for(make_bad);
  BOOST_TEST(message.find(field) != std::string::npos, "for " << field << ": \"" << message << '"');
}

void check_accepted(const std::string& what, const change& make) { BOOST_TEST(message_for(make) == "", what); }

}  // namespace

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(defaults_are_good_and_hosts_are_needed) {
  check_accepted("defaults", [](auto&) {});
  check_refused("hosts", [](auto& o) { o.hosts = ""; });
}

BOOST_AUTO_TEST_CASE(root_is_a_path) {
  check_accepted("root", [](auto& o) { o.root = "/a/b"; });
  check_refused("session_options::root", [](auto& o) { o.root = "a"; });
  check_refused("session_options::root", [](auto& o) { o.root = "/a/"; });
}

BOOST_AUTO_TEST_CASE(timeout_is_from_100_ms_to_1_h) {
  check_accepted("100 ms", [](auto& o) { o.timeout = 100ms; });
  check_accepted("1 h", [](auto& o) { o.timeout = 1h; });
  check_refused("timeout is 99 ms; it must be from 100 to 3600000 ms", [](auto& o) { o.timeout = 99ms; });
  check_refused("timeout", [](auto& o) { o.timeout = 1h + 1ms; });
  check_refused("timeout", [](auto& o) { o.timeout = -1ms; });
}

BOOST_AUTO_TEST_CASE(connect_timeout_is_zero_or_up_to_1_h) {
  check_accepted("0", [](auto& o) { o.connect_timeout = 0ms; });
  check_refused("connect_timeout", [](auto& o) { o.connect_timeout = -1ms; });
  check_refused("connect_timeout", [](auto& o) { o.connect_timeout = 1h + 1ms; });
}

BOOST_AUTO_TEST_CASE(lease_margin_is_zero_or_up_to_the_timeout) {
  check_accepted("all of it", [](auto& o) { o.lease_margin = o.timeout; });
  check_refused("lease_margin", [](auto& o) { o.lease_margin = -1ms; });
  check_refused("lease_margin", [](auto& o) { o.lease_margin = o.timeout + 1ms; });
}

BOOST_AUTO_TEST_CASE(retry_has_bounds) {
  check_accepted("no limit", [](auto& o) { o.retry.limit = 0ms; });
  check_refused("retry.limit", [](auto& o) { o.retry.limit = -1ms; });
  check_refused("retry.limit", [](auto& o) { o.retry.limit = 24h + 1ms; });
  check_refused("retry.first_pause", [](auto& o) { o.retry.first_pause = 0ms; });
  check_refused("retry.first_pause", [](auto& o) { o.retry.first_pause = 1h + 1ms; });
  check_refused("retry.max_pause", [](auto& o) { o.retry.max_pause = o.retry.first_pause - 1ms; });
  check_refused("retry.max_pause", [](auto& o) { o.retry.max_pause = 1h + 1ms; });
}

BOOST_AUTO_TEST_CASE(a_digest_user_is_needed_and_the_secret_is_never_told) {
  check_accepted("a colon in the password", [](auto& o) { o.digest = {{"u", "p:q"}}; });
  check_refused("digest", [](auto& o) { o.digest = {{"", "hush"}}; });
  check_refused("digest", [](auto& o) { o.digest = {{"a:b", "hush"}}; });
  const auto message = message_for([](auto& o) { o.digest = {{"a:b", "hush"}}; });
  BOOST_TEST(message.find("hush") == std::string::npos);
}

// A C string would end there.
BOOST_AUTO_TEST_CASE(credentials_and_acls_have_no_nul_bytes) {
  const std::string cut("a\0b", 3);
  check_refused("session_options::digest", [&](auto& o) { o.digest = {{cut, "hush"}}; });
  check_refused("session_options::digest", [&](auto& o) { o.digest = {{"u", cut}}; });
  check_refused("session_options::digest", [&](auto& o) {
    o.digest = {{"u", "x"}, {"v", std::string(64 << 10, 'x')}};
  });
  check_accepted("an ACL", [](auto& o) { o.default_acl = open_acl(); });
  check_refused("session_options::default_acl", [&](auto& o) { o.default_acl = {{perm_all, cut, "anyone"}}; });
  check_refused("session_options::default_acl", [&](auto& o) { o.default_acl = {{perm_all, "digest", cut}}; });
}

BOOST_AUTO_TEST_CASE(a_session_without_an_executor_is_refused) {
  session_options options;
  options.hosts = "127.0.0.1";
  const auto message = refusal([&] { session(asio::any_io_executor(), options); });
  BOOST_TEST(message.starts_with("session executor"), message);
}

BOOST_AUTO_TEST_CASE(a_bad_session_is_refused_at_construction) {
  asio::io_context io;
  const auto message = refusal([&] { session(io.get_executor(), session_options{}); });
  BOOST_TEST(message.find("hosts") != std::string::npos, message);
}

BOOST_AUTO_TEST_CASE(recipes_name_their_bad_arguments) {
  fake_bench bench;
  session_options options;
  options.hosts = "127.0.0.1";
  auto zk = bench.make_session(options);
  BOOST_TEST(refusal([&] { election(zk, "e", {"me"}); }).starts_with("election path \"e\""));
  BOOST_TEST(refusal([&] { election(zk, "/e", {""}); }).starts_with("election_options::id"));
  BOOST_TEST(refusal([&] { queue(zk, "/q/"); }).starts_with("queue path"));
  BOOST_TEST(refusal([&] { producer(queue(zk, "/q"), ""); }).starts_with("producer name"));
  BOOST_TEST(refusal([&] { producer(queue(zk, "/q"), "a/b"); }).starts_with("producer name"));
  BOOST_TEST(refusal([&] { producer(queue(zk, "/q"), "\xff"); }).starts_with("producer name"));
  BOOST_TEST(refusal([&] { election(zk, "/e\xff", {"me"}); }).find("UTF-8") != std::string::npos);
  const auto batches = [&](std::size_t most) { producer(queue(zk, "/q"), "p", {.max_batch = most}); };
  const auto lingers = [&](std::chrono::milliseconds time) { producer(queue(zk, "/q"), "p", {.linger = time}); };
  BOOST_TEST(refusal([&] { batches(0); }).starts_with("producer_options::max_batch is 0;"));
  BOOST_TEST(refusal([&] { batches(1001); }).starts_with("producer_options::max_batch is 1001;"));
  BOOST_TEST(refusal([&] { lingers(-1ms); }).starts_with("producer_options::linger is -1 ms;"));
  BOOST_TEST(refusal([&] { lingers(60'001ms); }).starts_with("producer_options::linger is 60001 ms;"));
  BOOST_TEST(refusal([&] {
               batches(1);
               batches(1000);
               lingers(60s);
             }) == "");
  BOOST_TEST(refusal([&] { consumer_coordinator(zk, "", {"me"}); }).starts_with("coordinator path"));
  BOOST_TEST(refusal([&] { consumer_coordinator(zk, "/c", {"a\n"}); }).starts_with("consumer_coordinator_options::id"));
  BOOST_TEST(refusal([&] {
               consumer_coordinator(zk, "/c", {"me", -1ms});
             }).starts_with("consumer_coordinator_options::rest"));
  BOOST_TEST(refusal([&] {
               consumer_coordinator(zk, "/c", {"me", 2h});
             }).starts_with("consumer_coordinator_options::rest"));
}

BOOST_AUTO_TEST_SUITE_END()

// Entries of access control lists: what servers would not understand is refused.

namespace {

std::string subject_refused(const std::string& subject) {
  return refusal([&] { x509_entry(subject); });
}
std::string address_refused(const std::string& address) {
  return refusal([&] { ip_entry(address); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(acl_entries)

BOOST_AUTO_TEST_CASE(entries_in_the_words_of_the_servers) {
  BOOST_TEST((auth_entry() == acl_entry{perm_all, "auth", ""}));
  BOOST_TEST((auth_entry(perm_read) == acl_entry{perm_read, "auth", ""}));
  BOOST_TEST((creator_acl() == acl{auth_entry()}));
  BOOST_TEST((x509_entry("CN=app,O=Example", perm_read | perm_write) ==
              acl_entry{perm_read | perm_write, "x509", "CN=app,O=Example"}));
  BOOST_TEST((ip_entry("10.1.0.0/16") == acl_entry{perm_all, "ip", "10.1.0.0/16"}));
}

// Computed with DigestAuthenticationProvider.generateDigest of ZooKeeper 3.8.0.
BOOST_AUTO_TEST_CASE(a_digest_is_that_of_the_servers) {
  BOOST_TEST(digest_id({"super", "test"}) == "super:D/InIHSb7yEEbrWz8b9l71RjZJU=");
  BOOST_TEST((digest_entry({"super", "test"}, perm_read) ==
              acl_entry{perm_read, "digest", "super:D/InIHSb7yEEbrWz8b9l71RjZJU="}));
  BOOST_TEST(digest_id({"u", "a:b"}) != digest_id({"u", "a"}));
}

BOOST_AUTO_TEST_CASE(bad_digests_are_refused_and_no_password_is_told) {
  const std::string cut("hu\0sh", 5);
  for (const auto& bad : {credentials{"", "hush"}, {"a:b", "hush"}, {cut, "hush"}, {"u", cut}}) {
    const auto message = refusal([&] { digest_entry(bad); });
    BOOST_TEST(message.starts_with("digest_id: "), message);
    BOOST_TEST(message.find("hu") == std::string::npos, message);
  }
}

BOOST_AUTO_TEST_CASE(permissions_are_a_sum_of_bits) {
  for (const std::int32_t bad : {0, -1, 32, 63}) {
    BOOST_TEST(refusal([&] { auth_entry(bad); }).starts_with("auth_entry: permissions"));
    BOOST_TEST(refusal([&] { x509_entry("CN=a", bad); }).starts_with("x509_entry: permissions"));
    BOOST_TEST(refusal([&] { ip_entry("10.0.0.1", bad); }).starts_with("ip_entry: permissions"));
    BOOST_TEST(refusal([&] { digest_entry({"u", "p"}, bad); }).starts_with("digest_entry: permissions"));
  }
}

BOOST_AUTO_TEST_CASE(subjects_as_java_writes_them) {
  for (const auto* good : {"CN=app", "CN=a b,OU=ops,O=Example\\, Inc.,L=X,ST=Y,C=DE", "CN=a+UID=7,DC=example,DC=org",
                           "1.2.840.113549.1.9.1=#160161,CN=a", "CN=\\ b", "CN=", "CN=M\u00fcller", "CN=a\\=b\\#1",
                           R"(CN=\"a\"\;\<b\>\\)", "CN=b\\ ", R"(CN=\ \ a  b\ \ )", R"(CN=\ )", R"(CN=a\\\ )"})
    BOOST_TEST(subject_refused(good) == "", good);
  for (const auto* bad : {"", "app", "/C=DE/CN=app", "CN = app", "CN=app, O=Example", "CN= app", "cn=app",
                          "emailAddress=a@b,CN=app", "CN=app,", ",CN=app", "CN=a,Example"})
    BOOST_TEST(subject_refused(bad).find("openssl x509") != std::string::npos, bad);
  BOOST_TEST(!subject_refused(std::string("CN=a\0b", 6)).empty());
}

// Servers take some of them, and no certificate has them.
BOOST_AUTO_TEST_CASE(subjects_as_openssl_writes_them_are_refused) {
  for (const auto* bad : {R"(CN=M\C3\BCller)", "CN=a=b", "CN=a#b", "CN=a ", "CN=a\\", "CN=a;b", "CN=a<b", "CN=\"a\"",
                          R"(CN=a\09b)", "1.2.3=a", "1.2.3=#1", "1.2.3=#0G", R"(CN=a \ )", R"(CN=\  a)", R"(CN=a\\ )"})
    BOOST_TEST(subject_refused(bad).find("-esc_msb") != std::string::npos, bad);
}

BOOST_AUTO_TEST_CASE(addresses_are_numbers) {
  for (const auto* good : {"10.1.2.3", "10.1.0.0/16", "0.0.0.0/0", "10.1.2.3/32", "::1", "2001:db8::/32", "::1/128"})
    BOOST_TEST(address_refused(good) == "", good);
  for (const auto* bad : {"", "localhost", "10.1.2", "10.1.2.3/33", "10.1.2.3/", "10.1.2.3/-1", "/8", "10.1.2.3/8/8",
                          "10.1.2.3 ", "::1/129", "10.1.2.3:80", "10.1.2.3/255.0.0.0", "010.1.2.300"})
    BOOST_TEST(address_refused(bad).find("10.1.0.0/16") != std::string::npos, bad);
  BOOST_TEST(!address_refused(std::string("10.1.2.3\0", 9)).empty());
}

BOOST_AUTO_TEST_SUITE_END()
